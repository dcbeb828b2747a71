#include "op/case.h"
#include "op/kv_store/kv_store.h"

namespace ridge::op {
namespace {

struct Pool {
  std::int64_t blocks, heads, block_size, head_dim;
};

Case stored(std::string name, DType type, Pool pool, std::vector<std::int32_t> slots) {
  return {fmt::format("{}, {} heads of {}, blocks of {}, {}", name, pool.heads, pool.head_dim, pool.block_size,
                      ridge::name(type)),
          {.tokens = std::int64_t(slots.size())},
          [=](CaseInputs& in) {
            kv_store(in.program, in.state("kv", type, {pool.blocks, 2, pool.heads, pool.block_size, pool.head_dim}),
                     in.activation("k", {Symbol::tokens, pool.heads * pool.head_dim}),
                     in.activation("v", {Symbol::tokens, pool.heads * pool.head_dim}),
                     in.ints("slots", {Symbol::tokens}, slots));
          },
          0};
}

// `tokens` of one sequence from `past` on, in blocks of a falling order.
std::vector<std::int32_t> sequence(std::int64_t tokens, std::int64_t past, const Pool& pool) {
  std::vector<std::int32_t> slots;
  for (std::int64_t t = past; t < past + tokens; ++t)
    slots.push_back(std::int32_t((pool.blocks - 1 - t / pool.block_size) * pool.block_size + t % pool.block_size));
  return slots;
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

}  // namespace

std::vector<Case> kv_store_cases() {
  std::vector<Case> cases;
  const Pool smol{40, 3, 32, 64};
  for (DType type : {DType::f32, DType::f16}) {
    cases.push_back(stored("scattered", type, {3, 2, 16, 24}, {47, -1, 0, 17}));
    cases.push_back(stored("nothing", type, {3, 2, 16, 24}, {}));
    cases.push_back(stored("padding only", type, {3, 2, 16, 24}, {-1, -1}));
    cases.push_back(stored("borders", type, {4, 1, 7, 5}, {5, 6, 7, 8, 27, 0, 1, -1, 2}));
    cases.push_back(stored("blocks of one", type, {9, 2, 1, 80}, {0, 1, 2, 8, 7, 6}));
    cases.push_back(stored("prefill", type, smol, sequence(300, 0, smol)));
    cases.push_back(stored("chunk", type, smol, sequence(100, 77, smol)));
    cases.push_back(timed(stored("512 tokens", type, smol, sequence(512, 0, smol))));
    cases.push_back(timed(stored("8 tokens", type, smol, {0, 100, 200, 300, 400, 500, 600, 700})));
  }
  return cases;
}

}  // namespace ridge::op
