// Random weights: value i of a tensor is a function of the seed, the tensor's name and i alone, so any piece of it can
// be made by any thread.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace ridge::quant {

struct RandomValues {
  std::uint64_t key = 0;
  float middle = 0, spread = 1;  // uniform in middle - spread ... middle + spread

  // Those of one of several tensors that share a name.
  RandomValues of(std::int64_t slice) const;

  void read(std::int64_t begin, std::int64_t count, float* values) const;
};

struct RandomTensor {
  std::string name;  // GGUF's
  std::vector<std::int64_t> shape;
  RandomValues values;
};

// The tensors that the family's forward pass asks for, and those that files of that family also have, as GGUF has them:
// matrices of variance 1 / columns, so that activations keep their size; norms near 1, biases near 0.
std::vector<RandomTensor> random_tensors(const model::Description& shape, std::uint64_t seed);

}  // namespace ridge::quant
