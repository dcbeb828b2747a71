#include "op/shape_rules.h"

namespace ridge::op {

void expect(bool ok, std::string_view op, std::string_view what) {
  if (!ok) ir::refuse(op, std::string(what));
}

ir::Linear per(Dim d, double factor) {
  ir::Linear sum(ir::Term::one, double(d.size) * factor);
  switch (d.symbol) {
    case Symbol::tokens: return sum + ir::Linear(ir::Term::tokens, factor);
    case Symbol::sequences: return sum + ir::Linear(ir::Term::sequences, factor);
    case Symbol::rows: return sum + ir::Linear(ir::Term::rows, factor);
    case Symbol::none: break;
  }
  return sum;
}

static double inner(const Shape& s, int until) {  // product of dimensions 1 .. until - 1
  double n = 1;
  for (int i = 1; i < until; ++i) n *= double(s[i].size);
  return n;
}

ir::Linear bytes_of(const ir::Program& p, ir::Value v) {
  const ir::ValueInfo& i = p[v];
  if (i.shape.rank == 1) return per(i.shape[0], double(row_bytes(i.dtype, 1)));
  return per(i.shape[0], inner(i.shape, i.shape.rank - 1) * double(row_bytes(i.dtype, i.shape[-1].size)));
}

ir::Linear elements_of(const ir::Program& p, ir::Value v, double factor) {
  const Shape& s = p[v].shape;
  return per(s[0], factor * inner(s, s.rank));
}

}  // namespace ridge::op
