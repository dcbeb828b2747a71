// The router of a mixture of experts (Shazeer et al. 2017; Mixtral, Jiang et al. 2024): each token's most probable
// experts, and what each of them weighs: softmax over all experts, of which the best are kept, mostly scaled so that
// they sum to 1.
#pragma once
#include "ir/program.h"

namespace ridge::op {

enum class RouteWeights : std::uint8_t {
  normalized,     // the kept ones sum to 1
  probabilities,  // as they are among all
};
struct RouteParams {
  int used = 1;  // experts to a token
  RouteWeights weights = RouteWeights::normalized;
};

extern const ir::OpInfo route_op;

struct Routes {
  ir::Value experts;  // (T, used) i32, the most probable first; of equal ones the lower number first
  ir::Value weights;  // (T, used) f32
};

// logits (T, E) f32, used <= E
Routes route(ir::Program& p, ir::Value logits, RouteParams params);

}  // namespace ridge::op
