#include "op/select_rows/select_rows.h"

#include <cstring>

#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 2 && p[in[0]].shape.rank == 2, "select_rows", "x must be (T, D)");
  expect(p[in[1]].shape.rank == 1 && p[in[1]].dtype == DType::i32, "select_rows", "rows must be (R) i32");
  return {{p[in[0]].dtype, {p[in[1]].shape[0], p[in[0]].shape[1]}}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.read_bytes = bytes_of(p, c.in[1]) + bytes_of(p, c.out[0]), .write_bytes = bytes_of(p, c.out[0])};
}

void copy_rows(const ir::Bound& b) {
  const View x = b.in[0], rows = b.in[1], out = b.out[0];
  for (std::int64_t r = 0; r < rows.dim(0); ++r)
    std::memcpy(out.row(r), x.row(rows.as<std::int32_t>()[r]), std::size_t(out.row_bytes()));
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {"select_rows/copy", "a copy of each row: the reference is as fast as it gets", copy_rows};
}

}  // namespace

const ir::OpInfo select_rows_op{.name = "select_rows", .infer = infer, .cost = cost, .choose = choose};

ir::Value select_rows(ir::Program& p, ir::Value x, ir::Value rows) { return p.record(select_rows_op, {x, rows})[0]; }

}  // namespace ridge::op
