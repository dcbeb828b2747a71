// What a call costs, as coefficients of the step descriptor: a program is priced once, a step evaluates it.
#pragma once
#include <array>
#include <cstdint>

#include "ir/step.h"

namespace ridge::ir {

struct Linear {  // a linear form over the terms of a step
  std::array<double, term_count> by{};

  Linear() = default;
  Linear(Term t, double factor) { by[int(t)] = factor; }
  double at(const Step& s) const {
    double sum = 0;
    for (int i = 0; i < term_count; ++i) sum += by[i] * s.at[i];
    return sum;
  }
  Linear& operator+=(const Linear& o) {
    for (int i = 0; i < term_count; ++i) by[i] += o.by[i];
    return *this;
  }
  friend Linear operator+(Linear a, const Linear& b) { return a += b; }
  friend Linear operator*(double f, Linear a) {
    for (double& v : a.by) v *= f;
    return a;
  }
};

// Which unit does the arithmetic: decides which compute ceiling bounds it.
enum class Unit : std::uint8_t { f32, bf16, f16, f8, int8 };

// FLOPs count a multiply and an add as two. Bytes are the least that must move: each input read once, each output
// written once; what a cache may hold is the price's concern (roof), not the cost's.
struct Cost {
  Linear flops;
  Linear weight_bytes;  // read: immutable weights
  Linear state_bytes;   // read: state, the KV cache
  Linear read_bytes;    // read: activations
  Linear write_bytes;   // written: activations and state
  Unit unit = Unit::f32;

  Cost& operator+=(const Cost& o) {
    flops += o.flops, weight_bytes += o.weight_bytes, state_bytes += o.state_bytes;
    read_bytes += o.read_bytes, write_bytes += o.write_bytes;
    return *this;
  }
};

}  // namespace ridge::ir
