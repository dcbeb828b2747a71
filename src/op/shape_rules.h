// What the shape rules and costs of several ops share.
#pragma once
#include <string_view>

#include "ir/op_info.h"

namespace ridge::op {

// Refuses (a bug of the model that recorded it) unless `ok`.
void expect(bool ok, std::string_view op, std::string_view what);

// The term that a dimension contributes to a cost: T, B or R times `factor`, or a constant.
ir::Linear per(Dim d, double factor);

// Bytes of a value, as a cost: first dimension symbolic, rows of whole blocks.
ir::Linear bytes_of(const ir::Program& p, ir::Value v);

// Elements of a value, times `factor`.
ir::Linear elements_of(const ir::Program& p, ir::Value v, double factor = 1);

}  // namespace ridge::op
