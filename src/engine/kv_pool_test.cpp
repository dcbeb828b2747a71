#include "engine/kv_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"

namespace ridge::engine {
namespace {

TEST(KvPool, BlocksForTokensRoundUp) {
  EXPECT_EQ(blocks_for(0, 32), 0);
  EXPECT_EQ(blocks_for(1, 32), 1);
  EXPECT_EQ(blocks_for(32, 32), 1);
  EXPECT_EQ(blocks_for(33, 32), 2);
  EXPECT_EQ(blocks_for(INT64_MAX, 32), INT64_MAX / 32 + 1);
}

TEST(KvPool, GrowsByWholeBlocksAndGivesBack) {
  KvPool pool(4, 16);
  BlockTable a, b;
  pool.grow(a, 17);
  EXPECT_EQ(a, (BlockTable{0, 1}));
  pool.grow(a, 32);
  EXPECT_EQ(a.size(), 2u);
  pool.grow(b, 1);
  EXPECT_EQ(b, (BlockTable{2}));
  EXPECT_EQ(pool.free_blocks(), 1);
  pool.release(a);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(pool.free_blocks(), 3);
  pool.grow(a, 48);
  EXPECT_EQ(std::set<std::int32_t>(a.begin(), a.end()), (std::set<std::int32_t>{0, 1, 3}));
}

TEST(KvPool, RefusesWhenFullAndTakesNothing) {
  KvPool pool(3, 32);
  BlockTable a, b;
  pool.grow(a, 64);
  try {
    pool.grow(b, 65);
    FAIL() << "a full pool gave blocks";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::machine);
    const std::string text = e.what();
    EXPECT_NE(text.find("65 tokens need 3 more blocks of 32"), std::string::npos) << text;
    EXPECT_NE(text.find("1 of 3 are free"), std::string::npos) << text;
    EXPECT_NE(text.find("--context"), std::string::npos) << text;
  }
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(pool.free_blocks(), 1);
}

TEST(KvPool, SharedBlocksAreFreeWhenTheLastHolderLetsGo) {
  KvPool pool(2, 8);
  BlockTable a;
  pool.grow(a, 16);
  BlockTable b = a;
  pool.share(b);
  EXPECT_EQ(pool.references(a[0]), 2);
  pool.release(a);
  EXPECT_EQ(pool.free_blocks(), 0);
  pool.release(b);
  EXPECT_EQ(pool.free_blocks(), 2);
  BlockTable stale = {0};
  EXPECT_THROW(pool.release(stale), Error);
  EXPECT_THROW(pool.share(stale), Error);
}

TEST(KvPool, RandomUseNeverGivesABlockTwice) {
  std::mt19937 random(7);
  KvPool pool(50, 4);
  std::vector<BlockTable> tables(12);
  for (int step = 0; step < 4000; ++step) {
    BlockTable& table = tables[random() % tables.size()];
    if (random() % 3 == 0) pool.release(table);
    else if (pool.blocks_for(std::int64_t(table.size()) * 4 + 9) - std::int64_t(table.size()) <= pool.free_blocks())
      pool.grow(table, std::int64_t(table.size()) * 4 + 9);
    std::set<std::int32_t> held;
    std::size_t count = 0;
    for (const BlockTable& t : tables) held.insert(t.begin(), t.end()), count += t.size();
    ASSERT_EQ(held.size(), count);
    ASSERT_EQ(pool.free_blocks(), 50 - std::int64_t(count));
  }
}

}  // namespace
}  // namespace ridge::engine
