// x = a + b; y = rms_norm(x) become one call that writes both: x is read from memory once less.
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "program/passes.h"

namespace ridge::program {

void fuse_residual_norm(ir::Program& p, const ir::Target&) {
  const auto read_by = readers(p);
  std::vector<ir::Call> calls = p.take_calls();
  std::vector<bool> dropped(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ir::Call& norm = calls[i];
    if (norm.op != &op::rms_norm_op || norm.in.size() != 2) continue;
    const ir::ValueInfo& x = p[norm.in[0]];
    if (x.producer < 0 || read_by[std::size_t(norm.in[0].id)].front() != i) continue;  // somebody reads x before us
    ir::Call& sum = calls[std::size_t(x.producer)];
    if (sum.op != &op::add_op || sum.params.as<op::AddParams>().scale != 1 || dropped[std::size_t(x.producer)])
      continue;
    norm.covers.push_back(sum.id);
    norm.out.push_back(norm.in[0]);
    norm.in = {sum.in[0], norm.in[1], sum.in[1]};
    dropped[std::size_t(x.producer)] = true;
  }
  std::vector<ir::Call> kept;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!dropped[i]) kept.push_back(std::move(calls[i]));
  p.replace_calls(std::move(kept));
}

}  // namespace ridge::program
