#pragma once
#include <string>

#include "hw/ceilings.h"
#include "model/loaded.h"

namespace ridge::cli {

// The ceilings of "this" machine (measured, by a quick probe where there is no record) or of a named GPU (datasheet).
hw::Ceilings ceilings_of(const std::string& machine, int threads);

// Of the device that a model was loaded for: a GPU's are its data sheet's.
hw::Ceilings ceilings_of(const model::LoadOptions& options, int threads);

}  // namespace ridge::cli
