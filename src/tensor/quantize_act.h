// Activations to int8 blocks (DType::q8_act), on the way into products with quantized weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/cpu.h"

namespace ridge {

// One row of n values into ceil(n / 32) ActBlocks, the last one padded with zeros. Every instruction set gives the
// same bytes as encode_q8_act.
void quantize_row(const float* x, std::int64_t n, std::byte* blocks);
void quantize_row(const float* x, std::int64_t n, std::byte* blocks, const hw::Isa& isa);  // with what `isa` allows

}  // namespace ridge
