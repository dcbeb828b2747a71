#include "op/attention/kernels.h"

namespace ridge::op {

ir::KernelChoice choose_attention(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const bool cached = c.in.size() == 5;
  const std::string form = cached ? "" : ", uncached";
  if (target.device == ir::Device::ref)
    return {"attention/ref" + form, "the plain reference", cached ? attention_ref : attention_uncached_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("attention/{}{}", name(level), form),
          "tiles of a kv head's queries over chunks of keys, merged in order: the result depends on neither cut nor "
          "threads",
          attention_cpu(level), attention_cpu_scratch(p, c, target)};
}

}  // namespace ridge::op
