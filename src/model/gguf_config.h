// A GGUF file's metadata as a Config.
#pragma once
#include "io/model_files.h"
#include "model/config.h"

namespace ridge::model {

// Fails (input) on a key that is missing, of the wrong type or out of range, naming file and key.
Config config_from_gguf(const io::ModelFiles& files);

}  // namespace ridge::model
