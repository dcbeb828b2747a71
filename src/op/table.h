// Every operation, one line each. Adding an op is its folder and its line in table.cpp.
#pragma once
#include <span>

#include "ir/op_info.h"
#include "op/case.h"

namespace ridge::op {

struct Row {
  const ir::OpInfo* op;
  std::vector<Case> (*cases)();
};
std::span<const Row> table();
const Row* find(std::string_view name);  // null: no such op

}  // namespace ridge::op
