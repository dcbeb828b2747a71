// Which GPU kernels a call gets. The number of rows of x changes from step to step, so each launch picks anew; what can
// be picked is planned, and printed, once.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "cuda/cublaslt.h"
#include "op/linear/cuda_kernels.h"
#include "op/linear/linear.h"

namespace ridge::op {
namespace {

enum class Way : std::uint8_t { ring, matvec, small, blocks, large, plain };

constexpr std::int64_t matvec_rows = 8;  // to which one pass over the weights does
constexpr std::int64_t exact_rows = 16;  // to which nothing is rounded but into two halves

struct Asked {
  DType x;
  std::int64_t columns, tokens;
  int arch;
};

Way way_of(const Asked& a, DType weight) {
  const bool many = a.tokens > exact_rows && cuda::why_no_cublaslt().empty(), tensor_cores = a.arch >= 80;
  if (a.x == DType::q8_act) {
    const bool few = tensor_cores && a.tokens <= blocks_most_tokens && is_block(weight) && has_blocks_kernel(weight);
    return few ? Way::blocks : many ? Way::large : Way::plain;
  }
  const bool rows_fit = tensor_cores && has_matvec_kernel(weight, a.columns);
  const bool small = small_planes(weight, a.columns, a.tokens, a.arch) > 0;
  if (small && a.tokens > matvec_best_tokens) return Way::small;
  if (ring_matvec_fits(weight, a.columns, a.tokens, a.arch)) return Way::ring;
  if (rows_fit && a.tokens <= matvec_rows) return Way::matvec;
  return many ? Way::large : rows_fit ? Way::matvec : Way::plain;
}

double rounding_of(const Asked& a, DType weight) {  // with normally distributed values it is a third of this
  const bool eight_bits = weight == DType::bf16 || weight == DType::f8_e4m3;
  switch (way_of(a, weight)) {
    case Way::small:
      return small_planes(weight, a.columns, a.tokens, a.arch) == 2 ? 1e-5 : weight == DType::bf16 ? 5e-3 : 1e-3;
    case Way::large: return weight == DType::f32 ? 0 : eight_bits ? 5e-3 : 1e-3;
    default: return 0;
  }
}

std::string_view name(Way way) {
  switch (way) {
    case Way::ring: return "matvec ring";
    case Way::matvec: return "matvec";
    case Way::small: return "mma";
    case Way::blocks: return "int8 matvec";
    case Way::large: return "cublasLt";
    case Way::plain: return "plain";
  }
  return "";
}

// A launch for each type that is there and each eight segments of it.
void run_ring(const ir::CudaBound& b) {
  const std::size_t n = b.out.size();
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3}) {
    std::vector<View> weights, biases, out;
    const auto flush = [&] {
      if (!out.empty()) ring_matvec_cuda({b.in.first(1), out, b.params, b.on, b.scratch}, weights, biases, {});
      weights.clear(), biases.clear(), out.clear();
    };
    for (std::size_t s = 0; s < n; ++s) {
      if (b.in[1 + s].dtype != type || b.in[1 + s].dim(0) == 0) continue;
      weights.push_back(b.in[1 + s]), biases.push_back(b.in[1 + n + s]), out.push_back(b.out[s]);
      if (out.size() == 8) flush();
    }
    flush();
  }
}

void run(Way way, const ir::CudaBound& b) {
  switch (way) {
    case Way::ring: return run_ring(b);
    case Way::matvec: return linear_matvec_cuda(b);
    case Way::small: return linear_small_cuda(b);
    case Way::blocks: return linear_blocks_cuda(b);
    case Way::large: return linear_large_cuda(b);
    case Way::plain: return linear_plain_cuda(b);
  }
}

// Names in order, each once: "bf16", "Q4_K+Q6_K".
template <class List, class NameOf> std::string joined(const List& list, NameOf name_of) {
  std::string text;
  for (const auto& item : list) {
    const std::string one(name_of(item));
    if (("+" + text + "+").find("+" + one + "+") == std::string::npos) text += (text.empty() ? "" : "+") + one;
  }
  return text;
}

Way exact_way_of(const Asked& a, DType weight) {
  if (a.x == DType::q8_act || a.arch < 80 || a.tokens > matvec_rows || !has_matvec_kernel(weight, a.columns))
    return Way::plain;
  return ring_matvec_fits(weight, a.columns, a.tokens, a.arch) ? Way::ring : Way::matvec;
}

// Each way once, with the segments that go it.
void run_ways(const ir::CudaBound& b, Way (*way_for)(const Asked&, DType)) {
  const Asked asked{b.in[0].dtype, b.in[0].columns(), b.in[0].rows(), b.on.arch};
  if (asked.tokens == 0) return;
  const std::size_t n = b.out.size();
  for (Way way : {Way::ring, Way::matvec, Way::small, Way::blocks, Way::large, Way::plain}) {
    std::vector<View> in{b.in[0]}, bias, out;  // of the segments that go this way
    for (std::size_t s = 0; s < n; ++s)
      if (way_for(asked, b.in[1 + s].dtype) == way)
        in.push_back(b.in[1 + s]), bias.push_back(b.in[1 + n + s]), out.push_back(b.out[s]);
    if (out.empty()) continue;
    in.insert(in.end(), bias.begin(), bias.end());
    run(way, {in, out, b.params, b.on, b.scratch});
  }
}

}  // namespace

void linear_cuda(const ir::CudaBound& b) { run_ways(b, way_of); }
void linear_exact_cuda(const ir::CudaBound& b) { run_ways(b, exact_way_of); }

LinearPlan plan_linear_cuda(DType x, std::int64_t columns, std::span<const LinearWeight> weights, std::int64_t tokens,
                            const ir::Target& target) {
  LinearPlan plan;
  if (target.activations == ir::Activations::f32) {
    plan.exact = true;
    plan.kernel =
        fmt::format("linear/{} x f32, exact", joined(weights, [](const LinearWeight& w) { return name(w.dtype); }));
    plan.reason = "f32 activations are asked for: no operand is rounded, and many rows are slow";
    return plan;
  }
  std::string before, ways;
  bool large = false, plain = false;
  for (std::int64_t t : {1, 5, 9, 17, 33, 65}) {  // where ways begin
    if (t > std::max<std::int64_t>(1, tokens)) break;
    const Asked asked{x, columns, t, target.gpu.arch};
    const std::string now = joined(weights, [&](const LinearWeight& w) { return name(way_of(asked, w.dtype)); });
    if (now != before) ways += before.empty() ? now : fmt::format(" to {} rows, {}", t - 1, now);
    before = now;
    large = large || now.find(name(Way::large)) != std::string::npos;
    plain = plain || now.find(name(Way::plain)) != std::string::npos;
    for (const LinearWeight& w : weights) plan.rounding = std::max(plan.rounding, rounding_of(asked, w.dtype));
  }
  if (tokens > 1)
    for (const LinearWeight& w : weights)
      plan.rounding = std::max(plan.rounding, rounding_of({x, columns, tokens, target.gpu.arch}, w.dtype));
  plan.kernel = fmt::format("linear/{} x {}: {}", joined(weights, [](const LinearWeight& w) { return name(w.dtype); }),
                            x == DType::q8_act ? "int8" : "f32", ways);
  plan.reason =
      plain ? "plain: no faster kernel for these types and sizes" : "few rows are bound by reading the weights";
  if (large) {
    plan.reason += ", many by the product";
    plan.scratch_bytes = large_scratch_bytes(columns, weights, tokens);
  } else if (tokens > exact_rows && !cuda::why_no_cublaslt().empty()) {
    plan.reason += "; " + cuda::why_no_cublaslt();
  }
  return plan;
}

ir::KernelChoice choose_linear_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const ir::ValueInfo& x = p[c.in[0]];
  std::vector<LinearWeight> weights;
  for (std::size_t s = 0; s < c.out.size(); ++s) {
    const ir::ValueInfo& w = p[c.in[1 + s]];
    if (w.kind != ir::Kind::weight)  // the fast kernels read weights before what comes before has ended
      return {.kernel = "linear/plain sm80",
              .reason = "the matrix is no weight but made in this step",
              .launch = linear_plain_cuda};
    weights.push_back({w.dtype, w.shape[0].size});
  }
  LinearPlan plan = plan_linear_cuda(x.dtype, x.shape[1].size, weights, target.most.of(x.shape[0]), target);
  return {.kernel = plan.kernel,
          .reason = plan.reason,
          .scratch_bytes = plan.scratch_bytes,
          .launch = plan.exact ? linear_exact_cuda : linear_cuda,
          .rounding = plan.rounding};
}

}  // namespace ridge::op
