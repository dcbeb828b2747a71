// Finding the scale (and minimum) of a group of values that loses least when they are rounded to small integers: a
// range of scales is tried, each refined by weighted least squares on the codes that it gives. As ggml does it
// (make_qx_quants, make_qkx2_quants), step for step, so that the results are the same bits.
#pragma once
#include <cstdint>
#include <span>

namespace ridge {

// x[i] ~ scale * (q[i] - zero_code), codes 0 .. 2 * zero_code - 1, errors weighed by x². Returns the scale; its sign is
// the opposite of the largest value's. 0 when all values are 0.
float fit_scale(std::span<const float> x, int zero_code, std::uint8_t* q);

struct ScaleAndMinimum {
  float scale, minimum;  // x[i] ~ scale * q[i] - minimum, both 0 or more
};
struct Trials {
  float first, step;  // scales tried: those that map the range onto 0 .. top + first + step * i, i = 0 .. steps
  int steps;
};
ScaleAndMinimum fit_scale_and_minimum(std::span<const float> x, std::span<const float> weights, int top, Trials trials,
                                      std::uint8_t* q);

}  // namespace ridge
