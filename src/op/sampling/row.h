// What the reference and the CPU's kernel share: the row as it is sampled from, and the random number.
#pragma once
#include <cstdint>

#include "op/sampling/sampling.h"

namespace ridge::op {

// Adds biases and takes off penalties, in place: bias, then repetition, then frequency and presence.
void adjust_logits(float* logits, const SampleControl& control, const SampleAdjust* adjusts);

// Uniform in [0, 1): a function of its arguments alone.
double uniform(std::uint64_t seed, std::uint64_t position);

}  // namespace ridge::op
