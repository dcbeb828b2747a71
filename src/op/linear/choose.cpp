#include "op/linear/kernels.h"

namespace ridge::op {

ir::KernelChoice choose_linear(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {"linear/ref", "the plain reference", linear_ref};
}

}  // namespace ridge::op
