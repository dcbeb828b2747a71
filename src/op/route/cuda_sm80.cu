// A warp to a token. The places of its experts in order are numbers (the larger logit first, of equal ones the lower
// expert), so the next expert is the least number beyond the last one's.
#include <cstdint>

#include "cuda/launch.cuh"
#include "cuda/warp.cuh"
#include "ir/op_info.h"
#include "op/route/route.h"

namespace ridge::op {
namespace {

using Place = std::uint64_t;
__device__ __forceinline__ Place place_of(float logit, int expert) {
  const std::uint32_t bits = __float_as_uint(logit + 0.0f),
                      ordered = bits >> 31 ? ~bits : bits | 0x80000000u;  // -0 is 0
  return Place(~ordered) << 32 | std::uint32_t(expert);
}
constexpr Place none = ~Place(0);

__device__ __forceinline__ Place warp_least(Place p) {
  for (int d = 16; d > 0; d /= 2) p = min(p, Place(__shfl_xor_sync(0xffffffffu, p, d)));
  return p;
}

// The experts of one lane: of up to 32 * held ones in registers, of more where they lie.
template <int held> struct Experts {
  Place place[held];
  __device__ Experts(const float* row, int experts, int lane) {
#pragma unroll
    for (int k = 0; k < held; ++k)
      place[k] = lane + 32 * k < experts ? place_of(row[lane + 32 * k], lane + 32 * k) : none;
  }
  __device__ Place least() const {
    Place p = none;
#pragma unroll
    for (int k = 0; k < held; ++k) p = min(p, place[k]);
    return p;
  }
  __device__ Place after(Place last) const {
    Place p = none;
#pragma unroll
    for (int k = 0; k < held; ++k)
      if (place[k] > last) p = min(p, place[k]);
    return p;
  }
};
template <> struct Experts<0> {
  const float* row;
  int experts, lane;
  __device__ Experts(const float* r, int n, int l) : row(r), experts(n), lane(l) {}
  __device__ Place least() const {
    Place p = none;
    for (int e = lane; e < experts; e += 32) p = min(p, place_of(row[e], e));
    return p;
  }
  __device__ Place after(Place last) const {
    Place p = none;
    for (int e = lane; e < experts; e += 32) {
      const Place at = place_of(row[e], e);
      if (at > last) p = min(p, at);
    }
    return p;
  }
};

template <int held>
__global__ void __launch_bounds__(128) choose_experts(const float* logits, std::int32_t* chosen, float* weights,
                                                      std::int64_t tokens, int experts, int used, RouteWeights kind) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t t = std::int64_t(blockIdx.x) * 4 + threadIdx.x / 32;
  const int lane = int(threadIdx.x % 32);
  if (t >= tokens) return;
  const float* const row = logits + t * experts;
  chosen += t * used, weights += t * used;
  const Experts<held> mine(row, experts, lane);
  Place place = warp_least(mine.least());
  const float most = row[std::uint32_t(place)];
  float sum = 0;
  for (int j = 0; j < used; ++j) {
    if (j > 0) place = warp_least(mine.after(place));
    const int expert = int(std::uint32_t(place));
    const float w = expf(row[expert] - most);
    sum += w;
    if (lane == j % 32) chosen[j] = expert, weights[j] = w;
  }
  if (kind == RouteWeights::probabilities) {
    sum = 0;
    for (int e = lane; e < experts; e += 32) sum += expf(row[e] - most);
    sum = cuda::warp_sum(sum);
  }
  for (int j = lane; j < used; j += 32) weights[j] /= sum;  // each lane those that it wrote
}

void route_cuda(const ir::CudaBound& b) {
  const auto& params = b.as<RouteParams>();
  const View logits = b.in[0];
  const int experts = int(logits.columns());
  const auto kernel = experts <= 128 ? choose_experts<4> : experts <= 512 ? choose_experts<16> : choose_experts<0>;
  cuda::launch(b.on, kernel, dim3(unsigned((logits.rows() + 3) / 4)), 128, 0, logits.as<float>(),
               b.out[0].as<std::int32_t>(), b.out[1].as<float>(), logits.rows(), experts, params.used, params.weights);
}

}  // namespace

ir::KernelChoice choose_route_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "route/sm80", .reason = "a warp to a token", .launch = route_cuda};
}

}  // namespace ridge::op
