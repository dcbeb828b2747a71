// Weights into memory, for a target: left where the file is mapped, or repacked once for the kernels that read them.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/op_info.h"
#include "tensor/arena.h"

namespace ridge::program {

struct WeightSource {
  ir::Value value;
  View rows;  // as the file holds it, any alignment
  std::vector<std::byte*>
      slices;  // where each slice of the outermost dimension is, if they lie apart; then rows.data is null
};

struct BoundWeights {
  std::vector<View> views;        // by value id, for the executor
  Arena packed;                   // what was repacked or copied
  std::int64_t mapped_bytes = 0;  // what stays in the file's mapping
  std::shared_ptr<void> device;   // on a GPU: the device's memory
  std::int64_t device_bytes = 0;
};

// `release` is told the index of each source that was copied: its pages are not needed any more. Vectors are copied as
// f32.
BoundWeights bind_weights(const ir::Program& p, const ir::Target& target, std::span<const WeightSource> sources,
                          ThreadPool& pool, const std::function<void(std::size_t source)>& release);

// Bytes of all weights as they will lie in memory, mapped ones included.
std::int64_t weight_bytes(const ir::Program& p, const ir::Target& target, std::span<const WeightSource> sources);

}  // namespace ridge::program
