#pragma once
#include "cli/options.h"

namespace ridge::cli {

enum class Rows : std::uint8_t { last, all };

struct StepLimits {
  std::int64_t longest = 4096;  // tokens of a sequence, where --context does not say
  std::int64_t tokens = 512;    // most of a step
  std::int64_t sequences = 1;
  Rows rows = Rows::last;  // whose logits may be wanted
};

// Opens and loads the model that the flags name, for a Stepper.
std::unique_ptr<model::Loaded> load_for_steps(const ModelFlags& flags, const StepLimits& limits, ThreadPool& pool);

}  // namespace ridge::cli
