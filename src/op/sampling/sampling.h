// The next token of each row of logits. In this order, which is that of vLLM and of Hugging Face's generate():
//   1. bias, then the repetition penalty (Keskar et al. 2019: tokens of prompt and text, positive logits divided,
//   others
//      multiplied), then the frequency and presence penalties (OpenAI: tokens generated so far);
//   2. temperature: p = softmax(logits / temperature);
//   3. top-k: the k most probable, exactly k of them (ties go to the lower ids), p normalized over them;
//   4. top-p: the fewest most probable tokens whose p reaches top_p, never none;
//   5. min-p: those with at least min_p times the largest p;
//   6. one draw from what is left.
// llama.cpp cuts before it applies the temperature instead; at temperature 1 the two agree.
// Random numbers are a function of (seed, position) alone, so a row's token depends on neither its batch mates nor the
// device.
#pragma once
#include <cstdint>

#include "ir/program.h"

namespace ridge::op {

// How one row is sampled; inputs of the step, an array of R in a u8 value (R, sizeof(SampleControl)).
struct SampleControl {
  float temperature = 0;   // 0: the largest logit, ties to the lowest id
  std::int32_t top_k = 0;  // 0: all
  float top_p = 1;
  float min_p = 0;       // relative to the most probable token
  float repetition = 1;  // divides positive and multiplies negative logits of tokens seen before (Keskar et al. 2019)
  float frequency = 0;   // subtracted once for each time a token was generated
  float presence = 0;    // subtracted once if a token was generated
  std::int32_t adjust_begin = 0, adjust_end = 0;  // this row's part of the adjustments
  std::int32_t padding = 0;
  std::uint64_t seed = 0;
  std::uint64_t position = 0;  // of the token that is drawn
};
// One token of a row whose logit changes before anything else; each token at most once a row.
struct SampleAdjust {
  std::int32_t token = 0;
  std::int32_t generated = 0;  // how often the sequence has generated it
  std::int32_t seen = 0;       // 1: it occurs in prompt or text: the repetition penalty applies
  float bias = 0;              // added to its logit; -infinity forbids it
};

extern const ir::OpInfo sampling_op;

// logits (R, V) f32, controls (R, sizeof(SampleControl)) u8, adjusts (A, sizeof(SampleAdjust)) u8 -> tokens (R) i32.
// A row with a NaN or a positive infinity, or with no finite logit, yields -1: the engine turns it into an error that
// names the call.
ir::Value sample(ir::Program& p, ir::Value logits, ir::Value controls, ir::Value adjusts);

}  // namespace ridge::op
