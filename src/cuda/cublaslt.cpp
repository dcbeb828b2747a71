#include "cuda/cublaslt.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "cuda/check.h"

namespace ridge::cuda {
namespace {

// The functions of the library that are used; all that follows has the same form in versions 12 and 13.
struct Library {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  std::string why_not;  // it could not be loaded

  Library() {
    constexpr const char* places[] = {
        "libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
        "/usr/local/cuda/lib/libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.12"};
    void* handle = nullptr;  // stays open: kernels of it may run until the process ends
    for (const char* place : places)
      if ((handle = dlopen(place, RTLD_NOW | RTLD_LOCAL))) break;
    if (!handle) {
      why_not = "libcublasLt.so.13 (or .12) is not on the library path";
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (!function && why_not.empty()) why_not = fmt::format("cuBLASLt has no {}", name);
    };
    find(create, "cublasLtCreate");
    find(matmul, "cublasLtMatmul");
    find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    find(desc_create, "cublasLtMatmulDescCreate");
    find(desc_destroy, "cublasLtMatmulDescDestroy");
    find(desc_set, "cublasLtMatmulDescSetAttribute");
    find(layout_create, "cublasLtMatrixLayoutCreate");
    find(layout_destroy, "cublasLtMatrixLayoutDestroy");
    find(preference_create, "cublasLtMatmulPreferenceCreate");
    find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
  }
};
const Library& library() {
  static const Library loaded;
  return loaded;
}

void expect(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail_bug("cuBLASLt, {}: status {}", what, int(status));
}

struct Desc {
  cublasLtMatmulDesc_t at = nullptr;
  Desc() { expect(library().desc_create(&at, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product"); }
  ~Desc() { library().desc_destroy(at); }
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  template <class T> void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    expect(library().desc_set(at, attribute, &value, sizeof value), "describing a product");
  }
};
struct LayoutOf {  // of a column-major matrix
  cublasLtMatrixLayout_t at = nullptr;
  LayoutOf(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    expect(library().layout_create(&at, type, std::uint64_t(rows), std::uint64_t(columns), stride),
           "describing a matrix");
  }
  ~LayoutOf() { library().layout_destroy(at); }
  LayoutOf(const LayoutOf&) = delete;
  LayoutOf& operator=(const LayoutOf&) = delete;
};
struct Preference {
  cublasLtMatmulPreference_t at = nullptr;
  Preference() { expect(library().preference_create(&at), "stating preferences"); }
  ~Preference() { library().preference_destroy(at); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  template <class T> void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    expect(library().preference_set(at, attribute, &value, sizeof value), "stating preferences");
  }
};

std::uint32_t alignment_of(const void* p) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p) | 256;
  return std::uint32_t(bits & -bits);
}

cudaDataType type_of(Number n) { return n == Number::f32 ? CUDA_R_32F : n == Number::f16 ? CUDA_R_16F : CUDA_R_16BF; }

// What is kept for one shape. cuBLASLt counts columns first: its A is W, whose rows are columns there, and its D is y.
struct Plan {
  Desc desc;
  LayoutOf w, x, y;
  std::vector<cublasLtMatmulAlgo_t> algorithms;  // best guess first; none: it can not
  int chosen = -1;                               // not yet

  Plan(cublasLtHandle_t handle, const Product& p)
      : w(type_of(p.number), p.columns, p.outputs, p.w_stride),
        x(type_of(p.number), p.columns, p.rows, p.x_stride),
        y(CUDA_R_32F, p.outputs, p.rows, p.y_stride) {
    desc.set(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t(CUBLAS_OP_T));
    desc.set(CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t(CUBLAS_OP_N));
    if (p.bias) {
      desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t(CUBLASLT_EPILOGUE_BIAS));
      desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    }
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(cublaslt_workspace_bytes));
    // Sums over parts of a row are added in a step of their own, never by whoever comes first.
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.w));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.x));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.y));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.y));
    std::array<cublasLtMatmulHeuristicResult_t, 8> found{};
    int count = 0;
    const cublasStatus_t status = library().heuristic(handle, desc.at, w.at, x.at, y.at, y.at, preference.at,
                                                      int(found.size()), found.data(), &count);
    if (status != CUBLAS_STATUS_SUCCESS) return;  // CUBLAS_STATUS_NOT_SUPPORTED and its like: none
    for (int i = 0; i < count; ++i)
      if (found[std::size_t(i)].state == CUBLAS_STATUS_SUCCESS &&
          found[std::size_t(i)].workspaceSize <= std::size_t(cublaslt_workspace_bytes))
        algorithms.push_back(found[std::size_t(i)].algo);
  }

  bool run(cublasLtHandle_t handle, const Launch& on, const Product& p, std::byte* workspace, int algorithm) {
    const float one = 1, zero = 0;
    if (p.bias) desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    return library().matmul(handle, desc.at, &one, p.w, w.at, p.x, x.at, &zero, p.y, y.at, p.y, y.at,
                            &algorithms[std::size_t(algorithm)], workspace, std::size_t(cublaslt_workspace_bytes),
                            on.stream) == CUBLAS_STATUS_SUCCESS;
  }
};

using Key = std::tuple<Number, std::array<std::int64_t, 6>, std::array<std::uint32_t, 4>>;
Key key_of(const Product& p) {
  return {p.number,
          {p.rows, p.outputs, p.columns, p.x_stride, p.w_stride, p.y_stride},
          {alignment_of(p.x), alignment_of(p.w), alignment_of(p.y), p.bias ? alignment_of(p.bias) : 0}};
}

struct Context {  // of one device
  cublasLtHandle_t handle = nullptr;
  std::string why_not;
  std::map<Key, Plan> plans;
  Context() {
    why_not = library().why_not;
    if (!why_not.empty()) return;
    if (const cublasStatus_t status = library().create(&handle); status != CUBLAS_STATUS_SUCCESS)
      why_not = fmt::format("cuBLASLt does not start here: status {}", int(status));
  }
};

std::mutex guard;
PickAlgorithm picker = nullptr;

Context& context() {
  static auto& all = *new std::map<int, std::unique_ptr<Context>>;  // outlives whatever still runs at exit
  int device = 0;
  check(cudaGetDevice(&device), "asking for the GPU in use");
  std::unique_ptr<Context>& mine = all[device];
  if (!mine) mine = std::make_unique<Context>();
  return *mine;
}

}  // namespace

const std::string& why_no_cublaslt() {
  const std::lock_guard lock(guard);
  return context().why_not;
}

bool multiply(const Launch& on, const Product& p, std::byte* workspace) {
  if (p.rows == 0 || p.outputs == 0) return true;
  const std::lock_guard lock(guard);
  Context& c = context();
  if (!c.why_not.empty()) fail_bug("a product through cuBLASLt without it: {}", c.why_not);
  auto at = c.plans.find(key_of(p));
  if (at == c.plans.end()) {
    constexpr std::size_t most_plans = 4096;  // prompts of every length
    if (c.plans.size() >= most_plans) c.plans.clear();
    at = c.plans.try_emplace(key_of(p), c.handle, p).first;
  }
  Plan& plan = at->second;
  const auto run = [&](int i) { return plan.run(c.handle, on, p, workspace, i); };
  const int count = int(plan.algorithms.size());
  if (plan.chosen >= 0) return run(plan.chosen);
  if (picker && count > 1) {
    plan.chosen = std::clamp(picker(on, p, count, run), 0, count - 1);
    return run(plan.chosen);
  }
  for (int i = 0; i < count; ++i)
    if (run(i)) {
      plan.chosen = i;
      return true;
    }
  return false;
}

void pick_algorithms_with(PickAlgorithm pick) {
  const std::lock_guard lock(guard);
  picker = pick;
}

}  // namespace ridge::cuda
