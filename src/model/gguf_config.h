// A GGUF file's metadata and tensors as a Config and named tensors.
#pragma once
#include "io/gguf.h"
#include "model/config.h"
#include "model/weights.h"

namespace ridge::model {

Config config_from_gguf(const io::GgufFile& file);

}  // namespace ridge::model
