// Rotary position embedding (Su et al. 2021). The angles of a step are computed once and used by every layer.
#pragma once
#include "ir/program.h"

namespace ridge::op {

enum class RopeStyle : std::uint8_t {
  halves,  // rotates (x[i], x[i + r/2]): Hugging Face's layout
  pairs,   // rotates (x[2i], x[2i + 1]): the original, and llama GGUF files, whose q and k rows are permuted for it
};

struct RopeAnglesParams {
  float scale = 1;  // multiplies cosine and sine: yarn's and longrope's attention factor
};
struct RopeParams {
  int head_dim = 0;
  RopeStyle style = RopeStyle::halves;
};

extern const ir::OpInfo rope_angles_op;
extern const ir::OpInfo rope_op;

// positions (T) i32, frequencies (r/2) f32 -> (T, r) f32: r/2 cosines, then r/2 sines of position * frequency
ir::Value rope_angles(ir::Program& p, ir::Value positions, ir::Value frequencies, RopeAnglesParams params = {});

// x (T, H * head_dim) f32, angles (T, r) with r <= head_dim -> (T, H * head_dim): the first r elements of each head
// are rotated, the rest passes through.
ir::Value rope(ir::Program& p, ir::Value x, ir::Value angles, RopeParams params);

}  // namespace ridge::op
