// Runs one case on the GPU in use: the twin of run_case.h. In builds with CUDA only.
#pragma once
#include <memory>

#include "op/case.h"

namespace ridge::cuda {
class Buffer;
class Stream;
}  // namespace ridge::cuda

namespace ridge::op {

class CudaCaseRun {
 public:
  // `target.gpu` says which device, and whether launches are dependent.
  CudaCaseRun(const Case& c, const ir::Target& target, std::uint64_t seed = 1);
  ~CudaCaseRun();
  void run();                                       // inputs and poisoned outputs as at first, then the launches
  void launch();                                    // the launches alone, again, on what is there
  std::vector<std::vector<float>> outputs() const;  // decoded, in order; states in full
  const ir::KernelChoice& choice() const { return choice_; }
  const ir::Program& program() const { return inputs_.program; }
  const ir::Call& call() const { return inputs_.program.calls()[0]; }

 private:
  void upload();
  CaseInputs inputs_;
  cuda::Launch on_;
  ir::KernelChoice choice_;
  std::unique_ptr<cuda::Stream> stream_;
  std::unique_ptr<cuda::Buffer> memory_;
  std::vector<std::vector<std::byte>> host_;  // by value id: as the device is to hold it
  std::vector<View> views_;                   // by value id, of the device
  std::vector<View> in_, out_;
  std::span<std::byte> scratch_;
};

}  // namespace ridge::op
