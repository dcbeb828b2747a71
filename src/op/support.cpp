#include "op/support.h"

#include <algorithm>

#include "op/table.h"

namespace ridge::op {
namespace {

bool is_value(DType type) { return type != DType::i32 && type != DType::u8; }

std::string types_of(const ir::Program& p, const ir::Call& call) {
  std::vector<std::string> seen;
  std::string text;
  for (ir::Value v : call.in) {
    if (!v || !is_value(p[v].dtype)) continue;
    const std::string type(name(p[v].dtype));
    if (std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
    text += (seen.empty() ? "" : " x ") + type;
    seen.push_back(type);
  }
  return text + " -> " + std::string(name(p[call.out[0]].dtype));
}

}  // namespace

std::vector<SupportRow> support(const std::vector<ir::Target>& targets) {
  std::vector<SupportRow> rows;
  for (const Row& row : table())
    for (const Case& c : row.cases()) {
      CaseInputs inputs(1, c.sizes, Contents::none);
      c.record(inputs);
      const ir::Call& call = inputs.program.calls()[0];
      SupportRow found{row.op->name, types_of(inputs.program, call), {}};
      const auto same = [&](const SupportRow& r) { return r.op == found.op && r.types == found.types; };
      if (std::any_of(rows.begin(), rows.end(), same)) continue;
      for (ir::Target target : targets) {
        target.most = c.sizes;
        found.kernels.emplace_back(target.device, row.op->choose(inputs.program, call, target).kernel);
      }
      rows.push_back(std::move(found));
    }
  return rows;
}

}  // namespace ridge::op
