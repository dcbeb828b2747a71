#pragma once
#include <string>

#include "hw/ceilings.h"

namespace ridge::cli {

// The ceilings of "this" machine (measured, by a quick probe where there is no record) or of a named GPU (datasheet).
hw::Ceilings ceilings_of(const std::string& machine, int threads);

}  // namespace ridge::cli
