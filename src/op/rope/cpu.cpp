#include "op/rope/kernels.h"

namespace ridge::op {
void rope_cpu(const ir::Bound& b) { rope_ref(b); }
void rope_angles_cpu(const ir::Bound& b) { rope_angles_ref(b); }
}  // namespace ridge::op
