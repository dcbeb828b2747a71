// The fused call is the plain calls one after the other.
#include <vector>

#include "op/fused_linear/fused_linear.h"
#include "op/fused_linear/kernels.h"
#include "op/linear/kernels.h"
#include "op/linear/linear.h"
#include "op/rms_norm/kernels.h"
#include "op/rms_norm/rms_norm.h"
#include "op/silu_gate/kernels.h"

namespace ridge::op {
namespace {

struct Held {  // a value between two of them
  View view;
  std::vector<std::byte> memory;
  Held(DType dtype, std::int64_t rows, std::int64_t columns)
      : view{.dtype = dtype, .rank = 2, .dims = {rows, columns}} {
    memory.resize(std::size_t(view.bytes()) + 1);
    view.data = memory.data();
  }
};

}  // namespace

void fused_linear_ref(const ir::Bound& b) {
  const auto& f = b.as<FusedLinearParams>();
  const std::size_t n = std::size_t(f.segments);
  const View x = b.in[0];
  Held prepared(f.quantize ? DType::q8_act : DType::f32, x.rows(), x.columns());
  if (f.norm) {
    const View in[] = {x, b.in[1]};
    rms_norm_ref({in, {&prepared.view, 1}, ir::Params(RmsNormParams{f.eps, f.offset}), b.pool, {}});
  } else {
    for (std::int64_t t = 0; t < x.rows(); ++t)
      info(prepared.view.dtype).encode(x.row_as<float>(t), prepared.view.row(t), x.columns());
  }
  std::vector<View> in{prepared.view};
  in.insert(in.end(), b.in.begin() + 3, b.in.end());
  std::vector<Held> products;
  std::vector<View> out;
  for (std::size_t s = 0; s < n; ++s) {
    products.emplace_back(DType::f32, x.rows(), b.in[3 + s].dim(0));
    out.push_back(f.finish == Finish::none ? b.out[s] : products.back().view);
  }
  linear_ref({in, out, ir::Params(LinearParams{f.segments}), b.pool, {}});
  if (f.finish == Finish::gate) silu_gate_ref({out, b.out, ir::Params(SiluGateParams{f.gate}), b.pool, {}});
  if (f.finish != Finish::add) return;
  for (std::int64_t t = 0; t < x.rows(); ++t)
    for (std::int64_t i = 0; i < b.out[0].columns(); ++i)
      b.out[0].row_as<float>(t)[i] = b.in[2].row_as<float>(t)[i] + f.scale * out[0].row_as<float>(t)[i];
}

}  // namespace ridge::op
