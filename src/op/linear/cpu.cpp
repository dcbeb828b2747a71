#include "op/linear/cpu.h"

#include "base/error.h"

namespace ridge::op {

std::span<const LinearKernels> scalar_linear_kernels();
std::span<const LinearKernels> avx2_linear_kernels();
std::span<const LinearKernels> avx_vnni_linear_kernels();
std::span<const LinearKernels> avx512_linear_kernels();
std::span<const LinearKernels> avx512_vnni_linear_kernels();

std::span<const LinearKernels> linear_kernels(LinearIsa isa) {
  switch (isa) {
    case LinearIsa::scalar: return scalar_linear_kernels();
    case LinearIsa::avx2: return avx2_linear_kernels();
    case LinearIsa::avx_vnni: return avx_vnni_linear_kernels();
    case LinearIsa::avx512: return avx512_linear_kernels();
    case LinearIsa::avx512_vnni: return avx512_vnni_linear_kernels();
  }
  return {};
}

const LinearKernels& linear_kernels(LinearIsa isa, DType type) {
  for (const LinearKernels& k : linear_kernels(isa))
    if (k.dtype == type) return k;
  fail_bug("linear: no kernel for weights of {}", name(type));
}

LinearIsa best_linear_isa(const hw::Isa& isa) {
  if (isa.vnni) return LinearIsa::avx512_vnni;
  if (isa.avx512) return LinearIsa::avx512;
  if (isa.avx_vnni) return LinearIsa::avx_vnni;
  return isa.avx2 ? LinearIsa::avx2 : LinearIsa::scalar;
}

std::string_view name(LinearIsa isa) {
  switch (isa) {
    case LinearIsa::scalar: return "scalar";
    case LinearIsa::avx2: return "avx2";
    case LinearIsa::avx_vnni: return "avx_vnni";
    case LinearIsa::avx512: return "avx512";
    case LinearIsa::avx512_vnni: return "avx512_vnni";
  }
  return "";
}

}  // namespace ridge::op
