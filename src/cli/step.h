// Sequences through a loaded model, step by step, without an engine's policy: what logits, perplexity, bench and
// profile need. Each sequence owns its part of the pool from the start.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/loaded.h"
#include "program/executor.h"

namespace ridge::cli {

enum class Want : std::uint8_t { all_rows, last_row };

class Stepper {
 public:
  explicit Stepper(model::Loaded& m) : m_(m), length_(std::size_t(m.options().max_sequences)) {}

  struct Part {
    std::size_t sequence = 0;
    std::span<const std::int32_t> ids;
  };
  // Appends each part's ids to its sequence and runs one step, which may still be going on when it returns. Fails
  // (input) on an id outside the vocabulary or a full context.
  void append(std::span<const Part> parts, Want want, program::Observer* observer = nullptr);
  void append(std::span<const std::int32_t> ids, Want want) {  // to sequence 0
    const Part part{0, ids};
    append({&part, 1}, want);
  }
  // The logits of the last step's wanted rows in the parts' order, (R, V), until the next step.
  View logits();
  void wait() { m_.executor().wait(); }  // until the last step has ended
  void restart(std::int64_t length = 0) {
    std::fill(length_.begin(), length_.end(), length);
  }                                                                // forgets what comes after
  std::vector<ir::Span> spans(std::span<const Part> parts) const;  // what the step of these parts is, before it runs

 private:
  model::Loaded& m_;
  std::vector<std::int64_t> length_;
  std::int64_t rows_ = 0;  // wanted by the last step
};

}  // namespace ridge::cli
