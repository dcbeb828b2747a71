#include "text/detokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/byte_alphabet.h"

namespace ridge::text {

using Kind = DecoderStep::Kind;

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte of a token <0xNN>, or -1.
int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  if (token[3] == '+' && hex_digit(token[4]) >= 0) return hex_digit(token[4]);  // so does the reference's number parser
  const int high = hex_digit(token[3]), low = hex_digit(token[4]);
  return high < 0 || low < 0 ? -1 : high << 4 | low;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void refuse_after_fuse(const TokenizerSpec& spec, const DecoderStep& what) {
  const bool fine = what.kind == Kind::fuse || (what.kind == Kind::strip && what.stop == 0) ||
                    (what.kind == Kind::replace_text && characters_in(what.pattern) == 1);
  if (!fine)
    fail_input("{}: a decoder after Fuse or ByteLevel that is neither Strip at the start nor Replace of one character",
               spec.source);
}

}  // namespace

Detokenizer::Detokenizer(const TokenizerSpec& spec, const Vocabulary& vocabulary,
                         std::vector<std::pair<TokenId, std::string>> normalized_added)
    : vocabulary_(vocabulary),
      normalized_added_(std::move(normalized_added)),
      joined_with_spaces_(spec.decoder.empty()) {
  if (spec.decoder.size() > max_steps)
    fail_input("{}: {} decoders; at most {} are accepted", spec.source, spec.decoder.size(), max_steps);
  std::sort(normalized_added_.begin(), normalized_added_.end());
  bool whole = false;
  for (const DecoderStep& what : spec.decoder) {
    if (whole) refuse_after_fuse(spec, what);
    Stage stage{what, {}, whole};
    if (what.kind == Kind::replace_regex) stage.regex.emplace_back(what.pattern, spec.source);
    whole |= what.kind == Kind::fuse || what.kind == Kind::byte_level;
    if (what.kind == Kind::replace_text && what.pattern.empty()) continue;
    stages_.push_back(std::move(stage));
  }
  from_bytes_ =
      vocabulary.spelling() == Spelling::bytes && !stages_.empty() && stages_[0].what.kind == Kind::byte_level;
}

void Detokenizer::start(State& state, Position position) const {
  state.stages.assign(stages_.size() + 1, {});
  state.utf8 = {};
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    state.stages[i].any = position == Position::middle;
    if (stages_[i].whole && position == Position::start) state.stages[i].left_to_strip = stages_[i].what.start;
  }
}

void Detokenizer::push(State& state, TokenId id, SpecialTokens special, std::string& out) const {
  if (!vocabulary_.has(id) || (special == SpecialTokens::skip && vocabulary_.is_special(id))) return;
  const auto normalized = std::lower_bound(normalized_added_.begin(), normalized_added_.end(), id,
                                           [](const auto& entry, TokenId wanted) { return entry.first < wanted; });
  if (normalized != normalized_added_.end() && normalized->first == id) {
    std::string bytes;
    if (from_bytes_ && append_bytes_of(normalized->second, bytes)) return feed(0, bytes, state, out);
    return feed(0, normalized->second, state, out);
  }
  if (from_bytes_ || vocabulary_.spelling() == Spelling::text) return feed(0, vocabulary_.text(id), state, out);
  feed(0, vocabulary_.spelled(id), state, out);
}

// Depth is the number of stages, at most max_steps, whatever the tokens.
void Detokenizer::feed(std::size_t index, std::string_view token, State& state, std::string& out) const {
  State::Stage& mine = state.stages[index];
  if (index == stages_.size()) {
    if (joined_with_spaces_ && mine.any) state.utf8.push(" ", out);
    mine.any = true;
    return state.utf8.push(token, out);
  }
  const Stage& stage = stages_[index];
  std::string text;
  switch (stage.what.kind) {
    case Kind::byte_level:
      if (from_bytes_ || !append_bytes_of(token, text)) return feed(index + 1, token, state, out);
      break;
    case Kind::replace_text: append_replaced(token, stage.what.pattern, stage.what.content, text); break;
    case Kind::replace_regex: append_replaced(token, stage.regex[0], stage.what.content, state.match, text); break;
    case Kind::metaspace: {
      const bool drop = stage.what.drop_first && !mine.any;
      append_replaced(token, stage.what.pattern, drop ? "" : " ", text);
      mine.any = true;
      break;
    }
    case Kind::byte_fallback: {
      const int byte = byte_of_token(token);
      if (byte >= 0) {
        mine.held += static_cast<char>(byte);
        return;
      }
      flush_bytes(index, state, out);
      return feed(index + 1, token, state, out);
    }
    case Kind::word_suffix:  // a space in place of the suffix, but for the last token, so the last one waits
      if (mine.any) append_replaced(mine.held, stage.what.pattern, " ", text);
      mine.held = token;
      if (!mine.any) {
        mine.any = true;
        return;
      }
      break;
    case Kind::strip: return strip(index, token, state, out);
    case Kind::fuse: return feed(index + 1, token, state, out);
  }
  feed(index + 1, text, state, out);
}

// A run of byte tokens is the text they spell, or one U+FFFD for each of them if they do not spell any.
void Detokenizer::flush_bytes(std::size_t index, State& state, std::string& out) const {
  std::string& run = state.stages[index].held;
  if (run.empty()) return;
  const std::string bytes = std::move(run);
  run.clear();
  if (is_valid_utf8(bytes)) return feed(index + 1, bytes, state, out);
  for (std::size_t i = 0; i < bytes.size(); ++i) feed(index + 1, replacement_character, state, out);
}

void Detokenizer::strip(std::size_t index, std::string_view token, State& state, std::string& out) const {
  const Stage& stage = stages_[index];
  const std::string& content = stage.what.pattern;
  std::size_t left = stage.whole ? state.stages[index].left_to_strip : stage.what.start;
  std::size_t right = stage.whole ? 0 : stage.what.stop;
  for (; left > 0 && token.starts_with(content); --left) token.remove_prefix(content.size());
  if (!token.empty()) left = 0;
  state.stages[index].left_to_strip = left;
  for (; right > 0 && token.ends_with(content); --right) token.remove_suffix(content.size());
  feed(index + 1, token, state, out);
}

void Detokenizer::finish(State& state, std::string& out) const {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (stages_[i].what.kind == Kind::byte_fallback) flush_bytes(i, state, out);
    if (stages_[i].what.kind == Kind::word_suffix && state.stages[i].any) {
      std::string text;
      append_replaced(state.stages[i].held, stages_[i].what.pattern, "", text);
      feed(i + 1, text, state, out);
    }
  }
  state.utf8.finish(out);
  start(state, Position::start);
}

}  // namespace ridge::text
