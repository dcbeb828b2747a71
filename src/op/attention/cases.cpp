#include <numeric>

#include "op/attention/attention.h"
#include "op/case.h"

namespace ridge::op {
namespace {

struct Batch {  // per sequence: queries of this step, and keys with them
  std::vector<std::int32_t> queries, context;
};

struct Heads {
  std::int64_t query, kv, d;
};

std::vector<std::int32_t> starts(const std::vector<std::int32_t>& queries) {
  std::vector<std::int32_t> start{0};
  for (std::int32_t n : queries) start.push_back(start.back() + n);
  return start;
}

// Blocks of a pool in an order of no pattern; the table's unused places name a block that is not there.
struct Blocks {
  std::int64_t count = 0, most = 1;
  std::vector<std::int32_t> table;

  Blocks(const Batch& batch, std::int64_t block_size) {
    for (std::int32_t n : batch.context) {
      const std::int64_t blocks = (n + block_size - 1) / block_size;
      count += blocks, most = std::max(most, blocks);
    }
    table.assign(batch.context.size() * std::size_t(most), -1);
    std::int64_t step = count / 2 + 1, next = 0;
    while (std::gcd(step, count) > 1) ++step;
    for (std::size_t s = 0; s < batch.context.size(); ++s)
      for (std::int64_t i = 0; i * block_size < batch.context[s]; ++i, next += step)
        table[s * std::size_t(most) + std::size_t(i)] = std::int32_t(next % count);
  }
};

void record(CaseInputs& in, const Batch& batch, const Heads& h, DType state, std::int64_t block_size,
            AttentionParams params) {
  const Blocks blocks(batch, block_size);
  const Sequences s{in.ints("query_start", {Dim(Symbol::sequences, 1)}, starts(batch.queries)),
                    in.ints("context_len", {Symbol::sequences}, batch.context),
                    in.ints("block_table", {Symbol::sequences, blocks.most}, blocks.table)};
  params.head_dim = int(h.d), params.scale = 1 / std::sqrt(float(h.d));
  attention(in.program, in.activation("q", {Symbol::tokens, h.query * h.d}, 2),
            in.state("kv", state, {blocks.count, 2, h.kv, block_size, h.d}), s, params);
}

Case paged(std::string name, Batch batch, Heads h, DType state, std::int64_t block_size, AttentionParams params = {}) {
  const Sizes sizes{.tokens = starts(batch.queries).back(), .sequences = std::int64_t(batch.queries.size())};
  Case c{fmt::format("{}, {}/{} heads of {}, {}", name, h.query, h.kv, h.d, ridge::name(state)), sizes,
         [=](CaseInputs& in) { record(in, batch, h, state, block_size, params); }, 2e-6};
  for (std::size_t s = 0; s < batch.queries.size(); ++s)
    c.sequences.push_back({batch.queries[s], batch.context[s] - batch.queries[s]});
  c.rules.window = params.window;
  return c;
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

Case uncached(std::string name, std::vector<std::int32_t> queries, Heads h, AttentionParams params) {
  params.head_dim = int(h.d), params.scale = 1 / std::sqrt(float(h.d));
  const Sizes sizes{.tokens = starts(queries).back(), .sequences = std::int64_t(queries.size())};
  return {fmt::format("uncached {}, {}/{} heads of {}", name, h.query, h.kv, h.d), sizes,
          [=](CaseInputs& in) {
            attention_uncached(in.program, in.activation("q", {Symbol::tokens, h.query * h.d}, 2),
                               in.activation("k", {Symbol::tokens, h.kv * h.d}),
                               in.activation("v", {Symbol::tokens, h.kv * h.d}),
                               in.ints("query_start", {Dim(Symbol::sequences, 1)}, starts(queries)), params);
          },
          2e-6};
}

}  // namespace

std::vector<Case> attention_cases() {
  const Batch mixed{{1, 0, 33, 1, 5},
                    {300, 7, 33, 16, 260}};  // decode, nothing, prefill, a block's end, a chunk's border
  const Heads smol{9, 3, 64};
  std::vector<Case> cases;
  for (DType type : {DType::f32, DType::f16}) {
    cases.push_back(paged("mixed", mixed, smol, type, 32));
    cases.push_back(paged("mixed, window 7", mixed, smol, type, 16, {.window = 7}));
    cases.push_back(paged("mixed, window 290", mixed, smol, type, 64, {.window = 290}));
    cases.push_back(paged("mixed, window 1000", mixed, smol, type, 32, {.window = 1000}));
    cases.push_back(paged("mixed, softcap 5", mixed, smol, type, 32, {.softcap = 5}));
    cases.push_back(paged("mixed, not causal", mixed, smol, type, 32, {.causal = false}));
    cases.push_back(paged("mixed, blocks of 7", mixed, {4, 4, 24}, type, 7, {.window = 20, .softcap = 30}));
    cases.push_back(paged("one query, one key", {{1}, {1}}, {2, 1, 5}, type, 1));
    for (std::int64_t d : {24, 80, 96, 128, 256}) cases.push_back(paged("mixed", mixed, {2, 1, d}, type, 16));
    for (std::int64_t group : {1, 5, 7, 8, 50}) cases.push_back(paged("mixed", mixed, {group, 1, 32}, type, 32));
  }
  for (std::int64_t d : {64, 16, 20}) {  // groups of whole blocks, blocks that cross groups, rows that end in one
    Case quantized = paged("int8, mixed", mixed, {3, 3, d}, DType::f16, 32);
    quantized.record = [record = quantized.record](CaseInputs& in) {
      record(in);
      in.store_q8(in.program.calls()[0].out[0]);
    };
    quantized.tolerance = 2e-3;  // a value may lie on the border of two steps
    cases.push_back(quantized);
  }
  cases.push_back(uncached("causal", {70, 0, 1, 300}, smol, {}));
  cases.push_back(uncached("encoder", {70, 0, 1}, {4, 2, 24}, {.causal = false}));
  cases.push_back(uncached("window and softcap", {70}, {4, 2, 16}, {.window = 9, .softcap = 5}));
  cases.push_back(timed(paged("prefill 512", {{512}, {512}}, smol, DType::f16, 32)));
  cases.push_back(timed(paged("decode at 1024", {{1}, {1024}}, smol, DType::f16, 32)));
  cases.push_back(
      timed(paged("8 decodes at 1024", {std::vector<std::int32_t>(8, 1), std::vector<std::int32_t>(8, 1024)}, smol,
                  DType::f16, 32)));
  return cases;
}

}  // namespace ridge::op
