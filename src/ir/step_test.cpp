#include "ir/step.h"

#include <gtest/gtest.h>

namespace ridge::ir {
namespace {

double experts_read(std::int64_t tokens, std::int64_t experts, std::int64_t used) {
  const Span span{.queries = tokens, .past = 0};
  return Step::of({&span, 1}, 1, {.experts = experts, .experts_used = used})[Term::experts];
}

TEST(step, experts_that_a_step_is_expected_to_read) {
  EXPECT_EQ(experts_read(5, 0, 0), 0);             // no layer is routed
  EXPECT_DOUBLE_EQ(experts_read(1, 8, 2), 2);      // one token reads its own
  EXPECT_DOUBLE_EQ(experts_read(2, 8, 2), 3.5);    // the second meets one of the first's with probability 1/4 each
  EXPECT_NEAR(experts_read(1000, 8, 2), 8, 1e-9);  // many tokens read all
  EXPECT_DOUBLE_EQ(experts_read(7, 4, 4), 4);      // every token uses all
}

}  // namespace
}  // namespace ridge::ir
