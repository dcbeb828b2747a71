#include "op/rms_norm/kernels.h"

namespace ridge::op {
void rms_norm_cpu(const ir::Bound& b) { rms_norm_ref(b); }
std::int64_t rms_norm_cpu_scratch(const ir::Program&, const ir::Call&, const ir::Target&) { return 0; }
}  // namespace ridge::op
