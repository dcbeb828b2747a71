// Linear calls over the same x become one call with a segment each: x is read (and quantized) once, the threads split
// more rows at a time, and fewer calls wait for each other. Block-quantized and plain weights stay apart, for they
// want x in different forms.
#include <map>

#include "op/linear/linear.h"
#include "program/passes.h"

namespace ridge::program {
namespace {

bool wants_blocks(const ir::Program& p, const ir::Call& linear) { return is_block(p[linear.in[1]].dtype); }

// "attention / q", "attention / k" -> "attention / q+k"
std::string joined(const std::string& a, const std::string& b) {
  const std::size_t cut = b.rfind(" / ");
  const std::string stem = cut == std::string::npos ? "" : b.substr(0, cut + 3);
  return a.rfind(stem, 0) == 0 ? a + "+" + b.substr(stem.size()) : a + "+" + b;
}

void append_segment(ir::Call& into, const ir::Call& from) {
  const std::size_t n = into.out.size();
  into.in.insert(into.in.begin() + std::ptrdiff_t(1 + n), from.in[1]);
  into.in.push_back(from.in[2]);
  into.out.push_back(from.out[0]);
  into.params.as<op::LinearParams>().segments = int(n + 1);
  into.covers.push_back(from.id);
  into.where.part = joined(into.where.part, from.where.part);
}

}  // namespace

void merge_linears(ir::Program& p, const ir::Target&) {
  std::map<std::pair<int, bool>, std::size_t> first;  // (x, wants blocks) -> index in `kept` of its first call
  std::vector<ir::Call> kept;
  for (ir::Call& c : p.take_calls()) {
    const bool mergeable = c.op == &op::linear_op && c.params.as<op::LinearParams>().segments == 1;
    if (!mergeable) {
      kept.push_back(std::move(c));
      continue;
    }
    const auto [at, is_first] = first.try_emplace({c.in[0].id, wants_blocks(p, c)}, kept.size());
    if (is_first) kept.push_back(std::move(c));
    else append_segment(kept[at->second], c);
  }
  p.replace_calls(std::move(kept));
}

}  // namespace ridge::program
