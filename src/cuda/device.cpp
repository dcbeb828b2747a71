#include "cuda/device.h"

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/has_code.h"

namespace ridge::cuda {
namespace {

std::string uuid_text(const cudaUUID_t& id) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(id.bytes[i]));
  }
  return text;
}

Device describe(int index) {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, index), "reading the properties of a GPU");
  return {.index = index,
          .name = p.name,
          .uuid = uuid_text(p.uuid),
          .arch = p.major * 10 + p.minor,
          .multiprocessors = p.multiProcessorCount,
          .l2_bytes = p.l2CacheSize,
          .memory_bytes = std::int64_t(p.totalGlobalMem),
          .most_shared_bytes = int(p.sharedMemPerBlockOptin)};
}

std::string why_none(cudaError_t code) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaGetLastError();
  if (driver == 0) return "there is no NVIDIA driver (libcuda.so.1 does not load)";
  if (code == cudaErrorInsufficientDriver)
    return fmt::format("the driver supports CUDA {}.{} and ridge was built for {}.{}: a newer driver is needed",
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  if (code == cudaErrorNoDevice) return "the driver shows no GPU (is CUDA_VISIBLE_DEVICES set?)";
  return cudaGetErrorString(code);
}

}  // namespace

Devices devices() {
  Devices found;
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    found.none = why_none(code == cudaSuccess ? cudaErrorNoDevice : code);
    return found;
  }
  for (int i = 0; i < count; ++i) found.list.push_back(describe(i));
  return found;
}

Device select(int index) {
  const Devices all = devices();
  if (all.list.empty()) fail_machine("--device cuda: {}", all.none);
  if (index < 0 || index >= int(all.list.size()))
    fail_input("--device cuda:{}: there {} {} GPU{}; accepted: cuda:0 to cuda:{}", index,
               all.list.size() == 1 ? "is" : "are", all.list.size(), all.list.size() == 1 ? "" : "s",
               all.list.size() - 1);
  Device d = all.list[std::size_t(index)];
  check(cudaSetDevice(index), "choosing the GPU");
  d.code_arch = code_arch();
  if (d.code_arch == 0)
    fail_machine("{} is sm_{}, and this ridge holds no code for it: build with -DCMAKE_CUDA_ARCHITECTURES={}{}", d.name,
                 d.arch, d.arch, d.arch == 90 ? "a" : "");
  return d;
}

Memory memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the GPU's free memory");
  return {std::int64_t(free), std::int64_t(total)};
}

}  // namespace ridge::cuda
