#include "cli/step.h"

#include "base/error.h"

namespace ridge::cli {

View SingleSequence::append(std::span<const std::int32_t> ids, Want want, program::Observer* observer) {
  const std::int64_t n = std::int64_t(ids.size()), vocab = m_.config().vocab;
  if (length_ + n > m_.options().context)
    fail_input("{} tokens do not fit a context of {}; see --context", length_ + n, m_.options().context);
  for (std::int64_t i = 0; i < n; ++i)
    if (ids[i] < 0 || ids[i] >= vocab) fail_input("token id {} at place {} is outside the vocabulary of {}", ids[i], length_ + i, vocab);

  program::Executor& e = m_.executor();
  const model::Batch& b = m_.batch();
  const std::int64_t rows = want == Want::all_rows ? n : 1;
  e.bind({n, 1, rows});
  auto ints = [&](ir::Value v) { return e.view(v).as<std::int32_t>(); };
  for (std::int64_t i = 0; i < n; ++i) {
    ints(b.tokens)[i] = ids[i];
    ints(b.positions)[i] = ints(b.slots)[i] = std::int32_t(length_ + i);  // the sequence owns the pool: slot = position
  }
  for (std::int64_t r = 0; r < rows; ++r) ints(b.wanted)[r] = std::int32_t(n - rows + r);
  ints(b.sequences.query_start)[0] = 0, ints(b.sequences.query_start)[1] = std::int32_t(n);
  ints(b.sequences.context_len)[0] = std::int32_t(length_ + n);
  const View table = e.view(b.sequences.block_table);
  for (std::int64_t i = 0; i < table.columns(); ++i) table.as<std::int32_t>()[i] = std::int32_t(i);
  e.run(observer);
  length_ += n;
  return e.view(m_.logits());
}

}  // namespace ridge::cli
