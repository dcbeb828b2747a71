#include "op/add/add.h"
#include "op/add/kernels.h"

namespace ridge::op {

void add_ref(const ir::Bound& b) {
  const float scale = b.as<AddParams>().scale;
  const View x = b.in[0], y = b.in[1], out = b.out[0];
  for (std::int64_t t = 0; t < x.rows(); ++t)
    for (std::int64_t i = 0; i < x.columns(); ++i)
      out.row_as<float>(t)[i] = x.row_as<float>(t)[i] + scale * y.row_as<float>(t)[i];
}

}  // namespace ridge::op
