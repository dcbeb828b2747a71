#include "op/case.h"
#include "op/embedding/embedding.h"

namespace ridge::op {
namespace {

Case rows(DType type, std::int64_t vocabulary, std::int64_t columns, std::vector<std::int32_t> tokens,
          float scale = 1) {
  return {fmt::format("{} {} of {}x{}, scale {}", name(type), tokens.size(), vocabulary, columns, scale),
          {.tokens = std::int64_t(tokens.size())},
          [=](CaseInputs& in) {
            embedding(in.program, in.ints("tokens", {Symbol::tokens}, tokens),
                      in.weight("table", type, {vocabulary, columns}), {.scale = scale});
          },
          0};
}

std::vector<std::int32_t> prompt(std::int64_t tokens, std::int64_t vocabulary) {
  std::vector<std::int32_t> list;
  for (std::int64_t t = 0; t < tokens; ++t) list.push_back(std::int32_t(t * 7919 % vocabulary));
  return list;
}

}  // namespace

std::vector<Case> embedding_cases() {
  std::vector<Case> cases;
  for (const DTypeInfo& type : all_dtypes())
    if (type.decode && type.encode && type.id != DType::q8_act)
      cases.push_back(rows(type.id, 33, type.block_elems > 32 ? 2 * type.block_elems : 40, {0, 32, 5, 5}, 3));
  cases.push_back(rows(DType::f32, 5, 3, {}));
  cases.push_back(rows(DType::q8_0, 100, 96, prompt(300, 100)));
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(rows(DType::q8_0, 4096, 576, prompt(tokens, 4096)));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
