#include <cmath>

#include "op/rope/kernels.h"
#include "op/rope/rope.h"

namespace ridge::op {

void rope_angles_ref(const ir::Bound& b) {
  const View positions = b.in[0], frequencies = b.in[1], out = b.out[0];
  const float scale = b.as<RopeAnglesParams>().scale;
  const std::int64_t half = frequencies.dim(0);
  for (std::int64_t t = 0; t < positions.dim(0); ++t)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = double(positions.as<std::int32_t>()[t]) * frequencies.as<float>()[i];
      out.row_as<float>(t)[i] = float(std::cos(angle) * scale);
      out.row_as<float>(t)[half + i] = float(std::sin(angle) * scale);
    }
}

void rope_ref(const ir::Bound& b) {
  const auto& params = b.as<RopeParams>();
  const View x = b.in[0], angles = b.in[1], out = b.out[0];
  const std::int64_t half = angles.columns() / 2, step = params.style == RopeStyle::halves ? 1 : 2;
  const std::int64_t partner = params.style == RopeStyle::halves ? half : 1;
  for (std::int64_t t = 0; t < x.rows(); ++t) {
    const float* cosine = angles.row_as<float>(t);
    const float* sine = cosine + half;
    for (std::int64_t head = 0; head < x.columns(); head += params.head_dim) {
      const float* from = x.row_as<float>(t) + head;
      float* to = out.row_as<float>(t) + head;
      for (std::int64_t i = 0; i < half; ++i) {
        const float a = from[i * step], c = from[i * step + partner];
        to[i * step] = a * cosine[i] - c * sine[i];
        to[i * step + partner] = a * sine[i] + c * cosine[i];
      }
      for (std::int64_t i = 2 * half; i < params.head_dim; ++i) to[i] = from[i];
    }
  }
}

}  // namespace ridge::op
