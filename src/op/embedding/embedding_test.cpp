// A table that lies in panels, because the head shares it, gives the same rows as one in rows.
#include "op/embedding/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/thread_pool.h"
#include "op/embedding/kernels.h"
#include "op/prepare_weight.h"

namespace ridge::op {
namespace {

TEST(embedding, panels_hold_the_same_rows) {
  constexpr std::int64_t vocabulary = 37, columns = 96;
  std::vector<float> values(vocabulary * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i));
  std::vector<std::int32_t> tokens{36, 0, 15, 16, 31, 32};
  ThreadPool pool(2);
  for (DType type : {DType::q8_0, DType::q4_1, DType::f16}) {
    std::vector<std::byte> bytes(std::size_t(vocabulary * row_bytes(type, columns)));
    info(type).encode(values.data(), bytes.data(), vocabulary * columns);
    const View rows{.data = bytes.data(), .dtype = type, .rank = 2, .dims = {vocabulary, columns}};
    std::vector<std::byte> packed(std::size_t(packed_bytes(rows)));
    const View panels = pack_weight(rows, packed.data(), pool);
    ASSERT_EQ(panels.layout, Layout::panels);
    auto look_up = [&](const View& table) {
      std::vector<float> out(tokens.size() * columns, NAN);
      const View in[] = {{.data = reinterpret_cast<std::byte*>(tokens.data()),
                          .dtype = DType::i32,
                          .rank = 1,
                          .dims = {std::int64_t(tokens.size())}},
                         table};
      const View to{
          .data = reinterpret_cast<std::byte*>(out.data()), .rank = 2, .dims = {std::int64_t(tokens.size()), columns}};
      const ir::Params params(EmbeddingParams{.scale = 1.5f});
      embedding_cpu(ir::Bound{in, {&to, 1}, params, pool, {}});
      return out;
    };
    EXPECT_EQ(look_up(panels), look_up(rows)) << name(type);
  }
}

}  // namespace
}  // namespace ridge::op
