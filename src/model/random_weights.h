// Bytes for the weights of a model without a file, so that its speed can be measured: random, never zeros, and such
// that activations stay finite.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace ridge::model {

// Not for two threads at once. Spans stay valid as long as this lives; tensors of one type share their bytes.
class RandomWeights {
 public:
  // A matrix: normal values of deviation 0.02, encoded. The user's error where the type has no encoder.
  std::span<const std::byte> matrix(DType type, std::int64_t rows, std::int64_t columns);
  std::span<const std::byte> vector(std::int64_t elems);  // float32 ones: norms

 private:
  std::map<DType, std::deque<std::vector<std::byte>>> made_;  // the last is the largest
};

}  // namespace ridge::model
