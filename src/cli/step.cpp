#include "cli/step.h"

#include "base/error.h"
#include "engine/step_inputs.h"

namespace ridge::cli {
namespace {

void check_part(const model::Loaded& m, const Stepper::Part& part, std::int64_t length) {
  const std::int64_t n = std::int64_t(part.ids.size()), vocab = m.config().vocab;
  if (length + n > m.options().context)
    fail_input("{} tokens do not fit a context of {}; see --context", length + n, m.options().context);
  for (std::int64_t i = 0; i < n; ++i)
    if (part.ids[std::size_t(i)] < 0 || part.ids[std::size_t(i)] >= vocab)
      fail_input("token id {} at place {} is outside the vocabulary of {}", part.ids[std::size_t(i)], length + i,
                 vocab);
}

}  // namespace

std::vector<ir::Span> Stepper::spans(std::span<const Part> parts) const {
  std::vector<ir::Span> list;
  for (const Part& p : parts) list.push_back({std::int64_t(p.ids.size()), length_[p.sequence]});
  return list;
}

void Stepper::append(std::span<const Part> parts, Want want, program::Observer* observer) {
  std::int64_t tokens = 0;
  for (const Part& p : parts) {
    check_part(m_, p, length_[p.sequence]);
    tokens += std::int64_t(p.ids.size());
  }
  program::Executor& e = m_.executor();
  const model::Batch& b = m_.batch();
  const std::int64_t sequences = std::int64_t(parts.size());
  const Sizes sizes{tokens, sequences, want == Want::all_rows ? tokens : sequences};
  e.bind(e.rounded(sizes));
  auto ints = [&](ir::Value v) { return e.input(v).as<std::int32_t>(); };
  const View table = e.input(b.sequences.block_table);
  const std::int64_t page = m_.options().kv_block_size;
  std::int64_t at = 0, row = 0;
  ints(b.sequences.query_start)[0] = 0;
  for (std::int64_t s = 0; s < sequences; ++s) {
    const Part& p = parts[std::size_t(s)];
    std::int64_t& length = length_[p.sequence];
    const std::int64_t first_block = std::int64_t(p.sequence) * table.columns();
    for (std::int32_t id : p.ids) {
      ints(b.tokens)[at] = id;
      ints(b.positions)[at] = std::int32_t(length);
      ints(b.slots)[at] = std::int32_t(first_block * page + length);
      if (want == Want::all_rows) ints(b.wanted)[row++] = std::int32_t(at);
      ++at, ++length;
    }
    if (want == Want::last_row) ints(b.wanted)[row++] = std::int32_t(at - 1);
    ints(b.sequences.query_start)[s + 1] = std::int32_t(at);
    ints(b.sequences.context_len)[s] = std::int32_t(length);
    for (std::int64_t i = 0; i < table.columns(); ++i) table.row_as<std::int32_t>(s)[i] = std::int32_t(first_block + i);
  }
  engine::fill_up(e, b, sizes);
  e.run(observer);
  rows_ = sizes.rows;
}

View Stepper::logits() {
  View logits = m_.executor().output(m_.logits());
  logits.dims[0] = rows_;  // without those that belong to nobody
  return logits;
}

}  // namespace ridge::cli
