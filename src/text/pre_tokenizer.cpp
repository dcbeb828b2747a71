#include "text/pre_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/byte_alphabet.h"
#include "text/utf8.h"

namespace ridge::text {

using Kind = PreTokenizerStep::Kind;
using Behavior = PreTokenizerStep::Behavior;
using Prepend = PreTokenizerStep::Prepend;

namespace {

// Turns a sequence of matches and the gaps between them into parts, as a behaviour says (tokenizer/normalizer.rs,
// split).
class Segments {
 public:
  Segments(Behavior behavior, bool invert, TextPart whole, FunctionRef<void(TextPart)> next)
      : behavior_(behavior), invert_(invert), whole_(whole), next_(next) {}

  void match(std::size_t begin, std::size_t end) {
    if (begin != at_) segment(at_, begin, invert_);
    segment(begin, end, !invert_);
    at_ = end;
  }
  void finish() {
    if (at_ != whole_.text.size()) segment(at_, whole_.text.size(), invert_);
    flush();
  }

 private:
  void segment(std::size_t begin, std::size_t end, bool is_match) {
    switch (behavior_) {
      case Behavior::isolated: emit(begin, end); return;
      case Behavior::removed:
        if (!is_match) emit(begin, end);
        return;
      case Behavior::contiguous: return join(begin, end, is_match, is_match == previous_match_);
      case Behavior::merged_with_previous: return join(begin, end, is_match, is_match && !previous_match_);
      case Behavior::merged_with_next: return join(begin, end, is_match, !is_match && previous_match_);
    }
  }
  void join(std::size_t begin, std::size_t end, bool is_match, bool with_pending) {
    if (!with_pending) flush();
    if (!pending_) pending_begin_ = begin;
    pending_ = true;
    pending_end_ = end;
    previous_match_ = is_match;
  }
  void flush() {
    if (pending_) emit(pending_begin_, pending_end_);
    pending_ = false;
  }
  void emit(std::size_t begin, std::size_t end) {
    if (begin != end) next_({whole_.text.substr(begin, end - begin), whole_.first && begin == 0});
  }

  Behavior behavior_;
  bool invert_;
  TextPart whole_;
  FunctionRef<void(TextPart)> next_;
  std::size_t at_ = 0, pending_begin_ = 0, pending_end_ = 0;
  bool pending_ = false, previous_match_ = false;
};

std::size_t skip_characters(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0 && at < text.size(); --count) at += character_bytes(text[at]);
  return std::min(at, text.size());
}

}  // namespace

PreTokenizer::PreTokenizer(const TokenizerSpec& spec) {
  if (spec.pre_tokenizer.size() > max_steps)
    fail_input("{}: {} pre-tokenizers; at most {} are accepted", spec.source, spec.pre_tokenizer.size(), max_steps);
  for (const PreTokenizerStep& what : spec.pre_tokenizer) {
    Step step{what, {}};
    if (what.kind == Kind::split_text && what.pattern.empty()) fail_input("{}: a split at the empty text", spec.source);
    if (what.kind == Kind::fixed_length && what.length == 0) fail_input("{}: words of length 0", spec.source);
    if (what.kind == Kind::split_regex) step.regex.emplace_back(what.pattern, spec.source);
    spelled_ |= what.kind == Kind::spell_bytes;
    steps_.push_back(std::move(step));
  }
}

void PreTokenizer::run(TextPart part, Scratch& scratch, Emit emit) const {
  scratch.buffers.resize(steps_.size() + 1);
  run_from(0, part, scratch, emit);
}

// Depth is the number of steps, at most max_steps, whatever the text.
void PreTokenizer::run_from(std::size_t index, TextPart part, Scratch& scratch, Emit emit) const {
  if (part.text.empty()) return;
  if (index == steps_.size()) {
    if (!spelled_) return emit(part.text);
    std::string& bytes = scratch.buffers[index];
    bytes.clear();
    append_bytes_of(part.text, bytes);
    return emit(bytes);
  }
  const Step& step = steps_[index];
  switch (step.what.kind) {
    case Kind::metaspace:
    case Kind::prefix_space:
    case Kind::spell_bytes: {
      std::string& out = scratch.buffers[index];
      out.clear();
      rewrite(step, part, out);
      return run_from(index + 1, {out, part.first}, scratch, emit);
    }
    default: return split(step, part, scratch, [&](TextPart p) { run_from(index + 1, p, scratch, emit); });
  }
}

void PreTokenizer::split(const Step& step, TextPart part, Scratch& scratch, Next next) const {
  Segments segments(step.what.behavior, step.what.invert, part, next);
  if (step.what.kind == Kind::split_regex) {
    Matches matches(step.regex[0], part.text, scratch.match);
    for (Match m; matches.next(m);) segments.match(m.begin, m.end);
  } else if (step.what.kind == Kind::split_text) {
    const std::string& pattern = step.what.pattern;
    for (std::size_t at = 0; (at = part.text.find(pattern, at)) != std::string_view::npos; at += pattern.size())
      segments.match(at, at + pattern.size());
  } else {  // fixed_length
    for (std::size_t at = 0; at < part.text.size();) {
      const std::size_t end = skip_characters(part.text, at, step.what.length);
      segments.match(at, end);
      at = end;
    }
  }
  segments.finish();
}

void PreTokenizer::rewrite(const Step& step, TextPart part, std::string& out) const {
  const std::string& mark = step.what.pattern;
  switch (step.what.kind) {
    case Kind::prefix_space:
      if (!part.text.starts_with(' ')) out += ' ';
      out += part.text;
      return;
    case Kind::metaspace: {
      const bool wanted = step.what.prepend == Prepend::always || (step.what.prepend == Prepend::first && part.first);
      if (wanted && !part.text.starts_with(' ') && !part.text.starts_with(mark)) out += mark;
      for (char c : part.text)
        if (c == ' ') out += mark;
        else out += c;
      return;
    }
    default: append_spelling_of(part.text, out); return;
  }
}

}  // namespace ridge::text
