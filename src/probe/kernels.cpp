#include "probe/kernels.h"

#include <bit>
#include <cstring>

#include "hw/isa.h"

namespace ridge::probe {
namespace {

using hw::Arithmetic, hw::Traffic;

#define RIDGE_PROBE_TRAFFIC(isa)                                                                               \
  {Traffic::read, #isa, read_##isa}, {Traffic::read, #isa " with prefetch", read_prefetch_##isa},              \
      {Traffic::write, #isa, write_##isa}, {Traffic::write, #isa " past the caches", write_past_caches_##isa}, \
      {Traffic::copy, #isa, copy_##isa}, {Traffic::copy, #isa " past the caches", copy_past_caches_##isa}, {   \
    Traffic::triad, #isa, triad_##isa                                                                          \
  }

std::uint32_t scrambled(std::uint32_t n) {  // the finalizer of MurmurHash3
  n = (n ^ (n >> 16)) * 0x85ebca6bu;
  n = (n ^ (n >> 13)) * 0xc2b2ae35u;
  return n ^ (n >> 16);
}

float random_float(int i) {  // 0.5 to 1.5, either sign
  const std::uint32_t r = scrambled(std::uint32_t(i) + 1);
  const float size = 0.5f + float(r >> 9) * 0x1p-23f;
  return r & 1 ? size : -size;
}

Operands made_operands() {
  Operands o;
  for (int i = 0; i < 64; ++i) {
    const float f = random_float(i);
    const double d = random_float(i + 64);
    std::memcpy(o.floats + 4 * i, &f, 4);
    if (i < 32) std::memcpy(o.doubles + 8 * i, &d, 8);
    for (int half = 0; half < 2; ++half) {
      const std::uint16_t top = std::uint16_t(std::bit_cast<std::uint32_t>(random_float(2 * i + half)) >> 16);
      std::memcpy(o.bf16 + 4 * i + 2 * half, &top, 2);
    }
    const std::uint32_t word = scrambled(std::uint32_t(i) + 1000);
    std::memcpy(o.bytes + 4 * i, &word, 4);
  }
  return o;
}

}  // namespace

const Operands& random_operands() {
  static const Operands made = made_operands();
  return made;
}

std::vector<TrafficKernel> traffic_kernels() {
#if defined(__x86_64__)
  if (hw::isa().avx512) return {RIDGE_PROBE_TRAFFIC(avx512)};
  if (hw::isa().avx2) return {RIDGE_PROBE_TRAFFIC(avx2)};
#endif
  return {RIDGE_PROBE_TRAFFIC(scalar)};
}

std::vector<RateKernel> rate_kernels() {
  std::vector<RateKernel> kernels;
  const auto add = [&](bool may_run, Arithmetic kind, std::string_view instruction, int operations, auto run) {
    if (may_run) kernels.push_back({kind, instruction, double(operations), run});
  };
#if defined(__x86_64__)
  const hw::Isa& isa = hw::isa();
  // Operations of one iteration: lanes, times 2 for multiply and add, times the products a lane sums, times chains.
  add(isa.avx512, Arithmetic::f32, "avx512 vfmadd", 16 * 2 * chains, f32_avx512);
  add(isa.avx2, Arithmetic::f32, "avx2 vfmadd", 8 * 2 * chains, f32_avx2);
  add(isa.avx512, Arithmetic::f64, "avx512 vfmadd", 8 * 2 * chains, f64_avx512);
  add(isa.avx2, Arithmetic::f64, "avx2 vfmadd", 4 * 2 * chains, f64_avx2);
  add(isa.vnni, Arithmetic::int8, "avx512 vpdpbusd", 16 * 2 * 4 * chains, int8_avx512_vnni);
  add(isa.avx_vnni, Arithmetic::int8, "avx vpdpbusd", 8 * 2 * 4 * chains, int8_avx_vnni);
  add(isa.avx512, Arithmetic::int8, "avx512 vpmaddubsw", 16 * 2 * 4 * chains, int8_avx512);
  add(isa.avx2, Arithmetic::int8, "avx2 vpmaddubsw", 8 * 2 * 4 * chains, int8_avx2);
  add(isa.avx512_bf16, Arithmetic::bf16, "avx512 vdpbf16ps", 16 * 2 * 2 * chains, bf16_avx512);
  const bool vectors = isa.avx2;
#else
  const bool vectors = false;
#endif
  add(!vectors, Arithmetic::f32, "scalar", 4 * 2 * chains, f32_scalar);
  add(!vectors, Arithmetic::f64, "scalar", 2 * 2 * chains, f64_scalar);
  add(!vectors, Arithmetic::int8, "scalar", 8 * 2 * chains, int8_scalar);
  return kernels;
}

}  // namespace ridge::probe
