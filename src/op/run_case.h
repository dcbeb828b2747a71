// Runs one case: its call bound to memory, by the kernel chosen for a target. Outputs are poisoned first, so that an
// element nobody wrote is seen as NaN.
#pragma once
#include <memory>

#include "op/case.h"

namespace ridge::op {

enum class Place : std::uint8_t { apart, in_place };  // in_place: out[0] lies where in[0] does, for ops that allow it

class CaseRun {
 public:
  CaseRun(const Case& c, const ir::Target& target, ThreadPool& pool, std::uint64_t seed = 1,
          Place place = Place::apart);
  void run();                                       // once; may be repeated where outputs lie apart
  std::vector<std::vector<float>> outputs() const;  // decoded, in order; states in full
  const ir::KernelChoice& choice() const { return choice_; }
  const ir::Program& program() const { return inputs_.program; }
  const ir::Call& call() const { return inputs_.program.calls()[0]; }

 private:
  View bind(ir::Value v, std::vector<std::byte>& storage) const;
  CaseInputs inputs_;
  ThreadPool& pool_;
  ir::KernelChoice choice_;
  std::vector<std::vector<std::byte>> storage_;  // by value id
  std::vector<View> in_, out_;
  std::vector<std::byte> scratch_;
};

// ||a - b|| / ||b||; infinite where either holds a NaN or the sizes differ, 0 where both are all zero.
double relative_error(const std::vector<float>& a, const std::vector<float>& reference);

}  // namespace ridge::op
