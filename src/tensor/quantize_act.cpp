#include "tensor/quantize_act.h"

#include "tensor/decode.h"

namespace ridge {

void quantize_row(const float* x, std::int64_t n, std::byte* blocks) { encode_q8_act(x, blocks, n); }

}  // namespace ridge
