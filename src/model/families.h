// The architectures, one file each: a forward pass that reads top to bottom and only records.
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

struct Family {
  std::string_view architecture;  // GGUF's general.architecture
  Forward forward;
};
std::span<const Family> families();
const Family* find_family(std::string_view architecture);  // null: ridge does not have it

// What the families share.

// Weight `name` of a layer times x, plus its bias where the file has one; the scope is named after it.
ir::Value linear(ir::Program& p, Weights& w, std::int64_t layer, std::string_view name, ir::Value x, std::initializer_list<std::int64_t> shape);

// The angles of this step's positions, from the configuration's scaling or the factors that the file brings.
ir::Value rope_angles(ir::Program& p, const Config& c, Weights& w, const Batch& b);

}  // namespace ridge::model
