// Named shapes: the sizes of well-known models, so that they can be priced, and run with random weights, without a
// file.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/model.h"

namespace ridge::model {

std::span<const std::string_view> shape_names();

// A description without tensors: any weight asked for has the type `dtype`. The user's error on an unknown name.
Description named_shape(std::string_view name, DType dtype);

// The same of a config.json (or the folder that holds one), where `text` is the path of such; else a named shape.
Description shape_or_config(const std::string& text, DType dtype);

}  // namespace ridge::model
