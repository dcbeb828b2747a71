#include "roof/price.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridge::roof {
namespace {

using ir::Term;

Machine made_up() {  // 20 GB/s, 100 GB/s, 100 GFLOP/s, 400 GOP/s
  Machine m;
  m.read = 20e9, m.cache_copy = 100e9;
  for (double& rate : m.ops) rate = 100e9;
  m.ops[int(ir::Unit::int8)] = 400e9;
  return m;
}

ir::Step step(std::int64_t queries, std::int64_t past) {
  const ir::Span span{queries, past};
  return ir::Step::of({&span, 1}, 1);
}

// A linear of 1000 x 1000 weights of one byte: 2e6 operations a token, 1e6 bytes a step.
ir::Cost linear_cost() {
  ir::Cost c;
  c.flops = {Term::tokens, 2e6};
  c.weight_bytes = {Term::one, 1e6};
  c.read_bytes = {Term::tokens, 1e3};
  c.write_bytes = {Term::tokens, 4e3};
  c.unit = ir::Unit::int8;
  return c;
}

TEST(Price, OneTokenIsBoundByMemoryManyByArithmetic) {
  const Price decode = price(linear_cost(), step(1, 99), made_up());
  EXPECT_DOUBLE_EQ(decode.bound, 1e6 / 20e9);  // 50 µs of reading; 5 µs of arithmetic; 0.05 µs of activations
  EXPECT_EQ(decode.limiter, Limiter::memory);
  const Price prefill = price(linear_cost(), step(100, 0), made_up());
  EXPECT_DOUBLE_EQ(prefill.bound, 2e8 / 400e9);
  EXPECT_EQ(prefill.limiter, Limiter::compute);
  EXPECT_EQ(limiter_text(prefill, made_up()), "compute int8 400 GOP/s");
  EXPECT_EQ(limiter_text(decode, made_up()), "memory read 20.0 GB/s");
  // The ridge point: 400e9 / 20e9 = 20 operations a byte, two of them a token: ten tokens.
  EXPECT_EQ(price(linear_cost(), step(9, 0), made_up()).limiter, Limiter::memory);
  EXPECT_EQ(price(linear_cost(), step(11, 0), made_up()).limiter, Limiter::compute);
  EXPECT_DOUBLE_EQ(prefill.intensity(), 2e8 / (1e6 + 5e5));
}

TEST(Price, TheBoundKnowsNoEfficiencyTheEstimateDoes) {
  Machine m = made_up();
  const Price before = price(linear_cost(), step(1, 0), m);
  EXPECT_DOUBLE_EQ(before.estimate, before.bound / Efficiency{}.memory);
  m.efficiency.memory = 0.5;
  m.dispatch = 3e-6;
  const Price after = price(linear_cost(), step(1, 0), m);
  EXPECT_EQ(after.bound, before.bound);
  EXPECT_DOUBLE_EQ(after.estimate, before.bound / 0.5 + 3e-6);
  for (const Price& p : {before, after}) {
    EXPECT_LE(p.bound, p.low);
    EXPECT_LE(p.low, p.estimate);
    EXPECT_LT(p.estimate, p.high);
  }
}

TEST(Price, AShortCallIsMostlyOverhead) {
  Machine m = made_up();
  m.dispatch = 1e-3;
  const Price p = price(linear_cost(), step(1, 0), m);
  EXPECT_EQ(p.limiter, Limiter::overhead);
  EXPECT_EQ(limiter_text(p, m), "overhead of 1.00 ms a call");
  EXPECT_DOUBLE_EQ(p.bound, 1e6 / 20e9);
}

TEST(Price, CausalAttentionCountsTheKeysThatAreSeen) {
  ir::Cost attention;  // one head of 64: 4 · 64 operations a pair, f16 keys and values: 256 bytes a token of context
  attention.flops = {Term::query_context, 256};
  attention.state_bytes = {Term::context, 256};
  const Price prefill = price(attention, step(512, 0), made_up());
  EXPECT_DOUBLE_EQ(prefill.flops, 256.0 * 512 * 513 / 2);
  EXPECT_DOUBLE_EQ(prefill.memory_bytes, 256.0 * 512);
  const Price decode = price(attention, step(1, 511), made_up());
  EXPECT_DOUBLE_EQ(decode.flops, 256.0 * 512);
  EXPECT_DOUBLE_EQ(decode.memory_bytes, 256.0 * 512);
  EXPECT_EQ(decode.limiter, Limiter::memory);
}

TEST(Price, TotalsAddUp) {
  const Machine m = made_up();
  const Price a = price(linear_cost(), step(1, 0), m), b = price(linear_cost(), step(100, 0), m);
  Total total;
  total.add(a);
  total.add(b);
  const Price sum = total.sum();
  EXPECT_DOUBLE_EQ(sum.bound, a.bound + b.bound);
  EXPECT_DOUBLE_EQ(sum.flops, a.flops + b.flops);
  EXPECT_EQ(sum.limiter, Limiter::compute);  // 500 µs of 550
  EXPECT_EQ(sum.unit, ir::Unit::int8);
}

TEST(Price, TheMachineIsThatOfTheSizesOfTheStep) {
  constexpr std::int64_t MiB = 1 << 20;
  const auto exactly = [](double v) { return hw::Spread{v, v, v, v, 10}; };
  hw::Ceilings c;
  c.device = "made up";
  for (auto traffic : {hw::Traffic::read, hw::Traffic::copy}) {
    c.bandwidth.push_back({traffic, 2, 8 * MiB, exactly(100e9)});
    c.bandwidth.push_back({traffic, 2, 128 * MiB, exactly(25e9)});
  }
  EXPECT_THROW(machine(c, 2, MiB, MiB), Error);  // no arithmetic was measured
  c.rates = {{hw::Arithmetic::f32, 2, "x", exactly(200e9)}, {hw::Arithmetic::int8, 2, "x", exactly(800e9)}};
  c.dispatch = {{2, exactly(1e-6)}};
  const Machine large = machine(c, 2, 128 * MiB, 8 * MiB), small = machine(c, 2, 4 * MiB, 8 * MiB);
  EXPECT_EQ(large.read, 25e9);
  EXPECT_EQ(large.cache_copy, 100e9);
  EXPECT_EQ(small.read, 100e9);  // a model that the cache holds
  EXPECT_EQ(large.ops[int(ir::Unit::int8)], 800e9);
  EXPECT_EQ(large.ops[int(ir::Unit::bf16)], 200e9);  // no bf16 products here: float32 does them
  EXPECT_EQ(large.dispatch, 1e-6);
  const Machine gpu = machine(hw::ceilings_of(hw::gpu_named("h200")), 1, MiB, MiB);
  EXPECT_EQ(gpu.read, 4.8e12);
  EXPECT_EQ(gpu.ops[int(ir::Unit::f8)], 1978.9e12);
  EXPECT_EQ(gpu.dispatch, 0);
}

}  // namespace
}  // namespace ridge::roof
