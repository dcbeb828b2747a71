// A Config as a config.json: for random weights of a named shape, which no file describes.
#pragma once
#include <string>

#include "model/config.h"
#include "tensor/dtype.h"

namespace ridge::model {

// So that config_from_hf, and transformers, read the same model. A bug where the rope is scaled: no named shape's is.
std::string hf_config_text(const Config& c, bool tied, DType type);

}  // namespace ridge::model
