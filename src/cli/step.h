// One sequence through a loaded model, step by step: what logits, perplexity, bench and profile need. Serving many is
// the engine's.
#pragma once
#include <cstdint>
#include <span>

#include "model/loaded.h"
#include "program/executor.h"

namespace ridge::cli {

enum class Want : std::uint8_t { all_rows, last_row };

class SingleSequence {
 public:
  explicit SingleSequence(model::Loaded& m) : m_(m) {}

  // Appends ids (at most the loaded step's tokens) to the sequence, runs, and returns the logits of the wanted rows,
  // (R, V), valid until the next call. Fails (input) on an id outside the vocabulary or a full context.
  View append(std::span<const std::int32_t> ids, Want want, program::Observer* observer = nullptr);
  void restart(std::int64_t length = 0) { length_ = length; }  // forgets all but the first `length` tokens
  std::int64_t length() const { return length_; }

 private:
  model::Loaded& m_;
  std::int64_t length_ = 0;
};

}  // namespace ridge::cli
