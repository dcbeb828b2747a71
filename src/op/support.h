// Which kernel runs which types on which device, as the cases of the ops show it: what `ridge support` prints.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/op_info.h"

namespace ridge::op {

struct SupportRow {
  std::string_view op;
  std::string types;  // of the floating inputs, each kind once, and of the output: "F32 x Q4_1 -> F32"
  std::vector<std::pair<ir::Device, std::string>> kernels;  // one for each device that was asked about
};

// One row for each combination of types that a case has, in the order of the table.
std::vector<SupportRow> support(const std::vector<ir::Target>& targets);

}  // namespace ridge::op
