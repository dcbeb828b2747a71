#include "op/attention/kernels.h"

namespace ridge::op {

ir::KernelChoice choose_attention(const ir::Program&, const ir::Call& c, const ir::Target&) {
  if (c.in.size() == 4) return {"attention/ref, uncached", "the plain reference", attention_uncached_ref};
  return {"attention/ref", "the plain reference", attention_ref};
}

}  // namespace ridge::op
