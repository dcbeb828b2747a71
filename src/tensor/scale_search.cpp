#include "tensor/scale_search.h"

#include <algorithm>
#include <cmath>

#include "tensor/each_block.h"

namespace ridge {
namespace {

constexpr float nothing = 1e-15f;  // a group no larger than this is all zeros

struct Sums {
  float xq = 0, qq = 0;  // weighted sums of x * q and q * q
};

Sums sums_at(std::span<const float> x, int zero_code, float inverse) {
  Sums s;
  for (float v : x) {
    const int q = nearest(inverse * v, -zero_code, zero_code - 1);
    const float w = v * v;
    s.xq += w * v * float(q);
    s.qq += w * float(q) * float(q);
  }
  return s;
}

}  // namespace

float fit_scale(std::span<const float> x, int zero_code, std::uint8_t* q) {
  float extreme = 0;
  for (float v : x)
    if (std::fabs(v) > std::fabs(extreme)) extreme = v;
  std::fill_n(q, x.size(), std::uint8_t(0));
  if (std::fabs(extreme) < nothing) return 0;

  float chosen = float(-zero_code) / extreme;
  Sums s = sums_at(x, zero_code, chosen);
  float scale = s.qq != 0 ? s.xq / s.qq : 0, best = scale * s.xq;
  for (int trial = -9; trial <= 9; ++trial) {
    if (trial == 0) continue;
    const float inverse = -(float(zero_code) + 0.1f * float(trial)) / extreme;
    s = sums_at(x, zero_code, inverse);
    if (s.qq > 0 && s.xq * s.xq > best * s.qq) {
      chosen = inverse;
      scale = s.xq / s.qq;
      best = scale * s.xq;
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    q[i] = std::uint8_t(nearest(chosen * x[i], -zero_code, zero_code - 1) + zero_code);
  return scale;
}

ScaleAndMinimum fit_scale_and_minimum(std::span<const float> x, std::span<const float> weights, int top, Trials trials,
                                      std::uint8_t* q) {
  float low = x[0], high = x[0], sum_w = weights[0], sum_x = sum_w * x[0];
  for (std::size_t i = 1; i < x.size(); ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    sum_w += weights[i];
    sum_x += weights[i] * x[i];
  }
  low = std::min(low, 0.0f);
  std::fill_n(q, x.size(), std::uint8_t(0));
  if (high == low) return {0, -low};

  std::uint8_t code[32];
  const auto round_all = [&](float inverse) {
    for (std::size_t i = 0; i < x.size(); ++i) code[i] = std::uint8_t(nearest(inverse * (x[i] - low), 0, top));
  };
  const auto loss = [&](float scale, float minimum) {
    float sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float off = scale * float(code[i]) + minimum - x[i];
      sum += weights[i] * (off * off);
    }
    return sum;
  };

  float inverse = float(top) / (high - low), scale = 1 / inverse;
  round_all(inverse);
  std::copy_n(code, x.size(), q);
  float best = loss(scale, low);
  for (int step = 0; step <= trials.steps; ++step) {
    inverse = (trials.first + trials.step * float(step) + float(top)) / (high - low);
    round_all(inverse);
    float sum_q = 0, sum_qq = 0, sum_xq = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float w = weights[i], c = float(code[i]);
      sum_q += w * c;
      sum_qq += w * c * c;
      sum_xq += w * c * x[i];
    }
    const float determinant = sum_w * sum_qq - sum_q * sum_q;
    if (!(determinant > 0)) continue;
    float new_scale = (sum_w * sum_xq - sum_x * sum_q) / determinant;
    float new_low = (sum_qq * sum_x - sum_q * sum_xq) / determinant;
    if (new_low > 0) new_low = 0, new_scale = sum_xq / sum_qq;
    if (const float now = loss(new_scale, new_low); now < best) {
      best = now;
      scale = new_scale;
      low = new_low;
      std::copy_n(code, x.size(), q);
    }
  }
  return {scale, -low};
}

}  // namespace ridge
