#include "model/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace ridge::model {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

// Llama 3.1: wavelengths longer than the trained context are stretched, short ones kept, those between blended.
double llama3_frequency(double f, const RopeScaling& s) {
  const double wavelength = two_pi / f, context = double(s.original_context);
  if (wavelength > context / s.low_freq_factor) return f / s.factor;
  if (wavelength < context / s.high_freq_factor) return f;
  const double smooth = (context / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - smooth) * f / s.factor + smooth * f;
}

double yarn_mscale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

// YaRN (Peng et al. 2023, sections 3.1 and 3.2): dimensions that turn often in the trained context keep their
// frequency, those that turn less than once are interpolated, with a ramp between.
void apply_yarn(std::vector<double>& f, const Rope& rope) {
  const RopeScaling& s = rope.scaling;
  const double dims = double(rope.dims);
  auto dimension_of = [&](double rotations) {
    return dims * std::log(double(s.original_context) / (rotations * two_pi)) / (2 * std::log(rope.base));
  };
  double low = dimension_of(s.beta_fast), high = dimension_of(s.beta_slow);
  if (s.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dims - 1);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double ramp = std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    f[i] = f[i] / s.factor * ramp + f[i] * (1 - ramp);
  }
}

// LongRoPE (Ding et al. 2024) as Phi-3 uses it.
void apply_longrope(std::vector<double>& f, const RopeScaling& s, std::int64_t context) {
  const bool is_long = context > s.original_context;
  const std::vector<float>& divisors = is_long ? s.long_factors : s.short_factors;
  if (divisors.size() != f.size())
    fail_input("rope scaling 'longrope' needs {} factors, the file has {}", f.size(), divisors.size());
  for (std::size_t i = 0; i < f.size(); ++i) f[i] /= divisors[i];
}

double unscaled(const Rope& rope, std::size_t pair) {
  return std::pow(rope.base, -2.0 * double(pair) / double(rope.dims));
}

}  // namespace

double yarn_usual_factor(const RopeScaling& s) { return yarn_mscale(s.factor, 1); }

double yarn_attention_factor(const RopeScaling& s) {
  if (s.attention_factor != 0) return s.attention_factor;
  if (s.mscale != 0 && s.mscale_all_dim != 0)
    return yarn_mscale(s.factor, s.mscale) / yarn_mscale(s.factor, s.mscale_all_dim);
  return yarn_usual_factor(s);
}

double longrope_attention_factor(const RopeScaling& s) {
  if (s.attention_factor != 0) return s.attention_factor;
  return s.factor <= 1 ? 1 : std::sqrt(1 + std::log(s.factor) / std::log(double(s.original_context)));
}

std::vector<float> llama3_divisors(const Rope& rope) {
  std::vector<float> divisors;
  for (std::size_t i = 0; i < std::size_t(rope.dims / 2); ++i)
    divisors.push_back(float(unscaled(rope, i) / llama3_frequency(unscaled(rope, i), rope.scaling)));
  return divisors;
}

RopeFrequencies rope_frequencies(const Rope& rope, std::int64_t context, std::span<const float> divisors) {
  const RopeScaling& s = rope.scaling;
  std::vector<double> f(std::size_t(rope.dims / 2));
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = unscaled(rope, i);
  double scale = 1;
  if (!divisors.empty()) {
    if (divisors.size() != f.size())
      fail_input("the file's rope factors are {}, the model rotates {} pairs", divisors.size(), f.size());
    for (std::size_t i = 0; i < f.size(); ++i) f[i] /= divisors[i];
  } else if (s.kind == RopeScaling::Kind::linear) {
    for (double& v : f) v /= s.factor;
  } else if (s.kind == RopeScaling::Kind::llama3) {
    for (double& v : f) v = llama3_frequency(v, s);
  } else if (s.kind == RopeScaling::Kind::yarn) {
    apply_yarn(f, rope);
    scale = yarn_attention_factor(s);
  } else if (s.kind == RopeScaling::Kind::longrope) {
    apply_longrope(f, s, context);
    scale = longrope_attention_factor(s);
  }
  return {std::vector<float>(f.begin(), f.end()), float(scale)};
}

}  // namespace ridge::model
