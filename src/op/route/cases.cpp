#include "op/case.h"
#include "op/route/route.h"

namespace ridge::op {
namespace {

Case routed(std::int64_t tokens, std::int64_t experts, int used, RouteWeights weights, float scale = 1) {
  return {fmt::format("{} of {}, {} tokens, {}, scale {}", used, experts, tokens,
                      weights == RouteWeights::normalized ? "normalized" : "probabilities", scale),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            route(in.program, in.activation("logits", {Symbol::tokens, experts}, scale), {used, weights});
          },
          1e-6};
}

}  // namespace

std::vector<Case> route_cases() {
  std::vector<Case> cases;
  for (RouteWeights weights : {RouteWeights::normalized, RouteWeights::probabilities}) {
    cases.push_back(routed(5, 1, 1, weights));
    cases.push_back(routed(5, 4, 4, weights));
    cases.push_back(routed(7, 8, 2, weights, 20));
    cases.push_back(routed(600, 128, 8, weights));
    cases.push_back(routed(9, 8, 3, weights, 0));  // all equal: the first ones
  }
  cases.push_back(routed(0, 8, 2, RouteWeights::normalized));
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(routed(tokens, 128, 8, RouteWeights::normalized));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
