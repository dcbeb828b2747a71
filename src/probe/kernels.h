// The kernels that find a machine's limits. Each is as plain as can be: nothing but the traffic, or nothing but the
// arithmetic. One file for each instruction set; which may run says hw::isa().
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hw/ceilings.h"

namespace ridge::probe {

struct Slice {  // one thread's part of a working set; areas are 64-byte aligned, `bytes` is a multiple of 4096
  const std::byte* in = nullptr;
  const std::byte* in2 = nullptr;
  std::byte* out = nullptr;
  std::int64_t bytes = 0;  // of each area
};

struct TrafficKernel {
  hw::Traffic traffic;
  std::string_view name;                     // "avx512 with prefetch"
  std::uint64_t (*run)(const Slice& slice);  // over the slice once; returns something made of what was read
};

struct RateKernel {
  hw::Arithmetic kind;
  std::string_view instruction;
  double ops_per_iteration;
  double (*run)(std::int64_t iterations,
                const std::byte* random);  // `random`: 256 bytes, as random_operands() makes them
};

// All that may run on this machine now, best first within a traffic or a kind as far as one knows beforehand.
std::vector<TrafficKernel> traffic_kernels();
std::vector<RateKernel> rate_kernels();

// Bytes that are good operands in every type: floats of size about 1, int8 of all values. Never zeros: a multiplier
// may save power, and so clock, on them.
struct alignas(64) Operands {
  std::byte floats[256], doubles[256], bf16[256], bytes[256];
};
const Operands& random_operands();

#define RIDGE_PROBE_TRAFFIC(isa)                                                                             \
  std::uint64_t read_##isa(const Slice&), read_prefetch_##isa(const Slice&), write_##isa(const Slice&),      \
      write_past_caches_##isa(const Slice&), copy_##isa(const Slice&), copy_past_caches_##isa(const Slice&), \
      triad_##isa(const Slice&)
RIDGE_PROBE_TRAFFIC(scalar);
double f32_scalar(std::int64_t, const std::byte*), f64_scalar(std::int64_t, const std::byte*);
double int8_scalar(std::int64_t, const std::byte*);
#if defined(__x86_64__)
RIDGE_PROBE_TRAFFIC(avx2);
RIDGE_PROBE_TRAFFIC(avx512);
double f32_avx2(std::int64_t, const std::byte*), f64_avx2(std::int64_t, const std::byte*);
double int8_avx2(std::int64_t, const std::byte*), int8_avx_vnni(std::int64_t, const std::byte*);
double f32_avx512(std::int64_t, const std::byte*), f64_avx512(std::int64_t, const std::byte*);
double int8_avx512(std::int64_t, const std::byte*), int8_avx512_vnni(std::int64_t, const std::byte*);
double bf16_avx512(std::int64_t, const std::byte*);
#endif
#undef RIDGE_PROBE_TRAFFIC

inline constexpr int chains = 12;  // independent sums: enough for two units of five cycles (rate_body.h)

}  // namespace ridge::probe
