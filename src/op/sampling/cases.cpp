#include "op/sampling/sampling.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> sampling_cases() {
  return {{"greedy", {.rows = 3}, [](CaseInputs& in) {
             sample(in.program, in.activation("logits", {Symbol::rows, 1000}), in.bytes("controls", {Symbol::rows, std::int64_t(sizeof(SampleControl))}, [] {
                      std::vector<std::byte> bytes(3 * sizeof(SampleControl));
                      for (int i = 0; i < 3; ++i) new (bytes.data() + i * sizeof(SampleControl)) SampleControl{};
                      return bytes;
                    }()), in.bytes("adjusts", {0, std::int64_t(sizeof(SampleAdjust))}, {}));
           }, 0}};
}

}  // namespace ridge::op
