// The last line of `ridge run`: each stage beside what it could have taken.
#pragma once
#include <string>
#include <vector>

#include "engine/generate.h"
#include "hw/ceilings.h"
#include "model/loaded.h"

namespace ridge::cli {

// What the steps of a generation ran, kept while it runs and priced afterwards.
struct StepLog {
  struct Entry {
    std::vector<ir::Span> spans;
    std::int64_t rows = 0, prompt_tokens = 0, generation_tokens = 0;
    double seconds = 0;
  };
  std::vector<Entry> steps;
  void add(const engine::StepReport& report, double seconds);
};

struct Stage {
  std::int64_t tokens = 0;
  double seconds = 0, bound_seconds = 0, memory_bytes = 0, flops = 0;
  std::string limiter;
  double read_ceiling = 0;  // bytes/s
  double tokens_per_s() const { return seconds > 0 ? double(tokens) / seconds : 0; }
  double of_bound() const { return seconds > 0 ? bound_seconds / seconds : 0; }
};

struct Summary {
  Stage prefill, decode;
  double load_s = 0;         // from the process' start
  double first_token_s = 0;  // from the process' start; of a chat's later answers, from the question
  std::int64_t peak_bytes = 0, predicted_bytes = 0;
};

Stage priced_stage(const StepLog& log, bool prefill, const model::Loaded& model, const hw::Ceilings& ceilings,
                   int threads);
std::string text_of(const Summary& s);
void add_to(Report& report, const Summary& s);

}  // namespace ridge::cli
