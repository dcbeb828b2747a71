// The architectures: forward passes that read top to bottom and only record. Families that differ in what their files
// say, not in what they compute, share one.
#pragma once
#include <span>
#include <string_view>

#include "model/batch.h"
#include "model/config.h"
#include "model/weights.h"

namespace ridge::model {

// Records the model and returns the logits of the wanted rows, (R, V).
using Forward = ir::Value (*)(ir::Program& p, const Config& c, Weights& w, Batch& b);

ir::Value llama(ir::Program& p, const Config& c, Weights& w, Batch& b);
ir::Value qwen3(ir::Program& p, const Config& c, Weights& w, Batch& b);
ir::Value gemma2(ir::Program& p, const Config& c, Weights& w, Batch& b);
ir::Value gemma3(ir::Program& p, const Config& c, Weights& w, Batch& b);
ir::Value olmo2(ir::Program& p, const Config& c, Weights& w, Batch& b);
ir::Value gpt2(ir::Program& p, const Config& c, Weights& w, Batch& b);

struct Family {
  std::string_view architecture;  // GGUF's general.architecture
  Forward forward;
};
std::span<const Family> families();
const Family* find_family(std::string_view architecture);  // null: ridge does not have it

}  // namespace ridge::model
