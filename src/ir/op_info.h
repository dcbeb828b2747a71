// What the rest of ridge knows of an operation: one row of op/table.cpp, filled by the op's own room.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/launch.h"
#include "hw/cpu.h"
#include "ir/cost.h"
#include "ir/program.h"
#include "tensor/view.h"

namespace ridge {
class ThreadPool;
}

namespace ridge::ir {

struct ValueSpec {  // what a shape rule says of one output
  DType dtype = DType::f32;
  Shape shape;
  int version_of = -1;  // index of the state input whose next version this is
};

enum class Device : std::uint8_t { ref, cpu, cuda };
enum class Activations : std::uint8_t { int8, f32 };  // what quantized weights are multiplied with

struct Target {  // what kernels are chosen for
  Device device = Device::cpu;
  Activations activations = Activations::int8;
  hw::Isa isa;
  int threads = 1;
  cuda::Launch gpu;  // of Device::cuda: the device's facts, its stream not yet
  Sizes most;        // the largest step that will be run: scratch is sized by it
};

// A call bound to memory. Optional inputs that are absent are null views. Outputs never overlap inputs except where
// the op says that it works in place, or where an output is the next version of a state.
struct Bound {
  std::span<const View> in, out;
  const Params& params;
  ThreadPool& pool;
  std::span<std::byte> scratch;  // scratch_bytes as chosen, 64-byte aligned, contents undefined
  template <class P> const P& as() const { return params.as<P>(); }
};
using CpuKernel = void (*)(const Bound&);

// The same on a GPU: every address is the device's, and nothing has happened when the kernel function returns: it has
// put its launches on the stream, which may be recording a graph.
struct CudaBound {
  std::span<const View> in, out;
  const Params& params;
  const cuda::Launch& on;
  std::span<std::byte> scratch;  // 256-byte aligned
  template <class P> const P& as() const { return params.as<P>(); }
};
using CudaKernel = void (*)(const CudaBound&);

struct KernelChoice {  // printable: explain --kernels
  std::string kernel;  // "linear/vnni panels q4_1 x int8"
  std::string reason;
  CpuKernel run = nullptr;
  std::int64_t scratch_bytes = 0;
  CudaKernel launch = nullptr;  // of Device::cuda, instead of `run`
  double rounding = 0;          // relative error that operands rounded to half precision add, where there are any
};

struct OpInfo {
  std::string_view name;
  // Dtype and shape of every output; throws Fault::bug where inputs do not fit each other.
  std::vector<ValueSpec> (*infer)(const Program&, std::span<const Value> in, const Params&);
  Cost (*cost)(const Program&, const Call&);
  KernelChoice (*choose)(const Program&, const Call&, const Target&);
  std::string (*describe)(const Params&) = nullptr;  // parameters as text, "" or null when there are none
  bool in_place = false;                             // out[0] may be the same storage as in[0] when their bytes agree
  bool stores_q8 = false;  // out[0] may be q8_act instead of f32: its kernels end with store_row
};

// Refuses, with the call's op and the reason.
[[noreturn]] void refuse(std::string_view op, const std::string& reason);

}  // namespace ridge::ir
