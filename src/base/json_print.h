// The JSON printer: the same report for programs. One object: schema_version, verb, environment, then the report's
// sections (objects), tables (arrays of objects) and notes, in its order. Numbers are in base units, not rounded; what
// is unknown, infinite or NaN is null; bytes that are not UTF-8 become U+FFFD.
#pragma once
#include <string>

#include "base/report.h"

namespace ridge {

inline constexpr int report_schema_version = 1;  // raised when a key changes its meaning or goes away

std::string json_of(const Report& report);

}  // namespace ridge
