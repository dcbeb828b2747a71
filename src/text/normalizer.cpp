#include "text/normalizer.h"

#include "base/error.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace ridge::text {

using Kind = NormalizerStep::Kind;

void append_replaced(std::string_view text, std::string_view pattern, std::string_view content, std::string& out) {
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(pattern, at)) != std::string_view::npos; at = found + pattern.size()) {
    out += text.substr(at, found - at);
    out += content;
  }
  out += text.substr(at);
}

void append_replaced(std::string_view text, const Regex& pattern, std::string_view content, MatchScratch& scratch,
                     std::string& out) {
  if (text.empty()) return;  // the reference looks for nothing in an empty text
  Matches matches(pattern, text, scratch);
  std::size_t at = 0;
  for (Match m; matches.next(m); at = m.end) {
    out += text.substr(at, m.begin - at);
    out += content;
  }
  out += text.substr(at);
}

namespace {

std::string_view stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty()) {
    std::size_t at = 0;
    if (!is_space(next_character(text, at))) break;
    text.remove_prefix(at);
  }
  while (right && !text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    std::size_t at = last;
    if (!is_space(next_character(text, at))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

void append_collapsed(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  for (char c : text)
    if (c != ' ' || (out.size() > before && out.back() != ' ')) out += c;
}

std::string_view without_end(std::string_view text, std::string_view pattern) {
  while (text.ends_with(pattern)) text.remove_suffix(pattern.size());
  return text;
}

// The rules of NMT (normalizers/unicode.rs, do_nmt): some controls go, kinds of space become ' '.
void append_nmt(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if ((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F)
      continue;
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                       c == 0xFFFD;
    append_character(out, space ? ' ' : c);
  }
}

void append_without_marks(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (!is_mark(c)) append_character(out, c);
  }
}

Form form_of(Kind kind) {
  switch (kind) {
    case Kind::nfc: return Form::nfc;
    case Kind::nfd: return Form::nfd;
    case Kind::nfkc: return Form::nfkc;
    default: return Form::nfkd;
  }
}

}  // namespace

Normalizer::Normalizer(const TokenizerSpec& spec) {
  if (spec.normalizer.size() > max_steps)
    fail_input("{}: {} normalizers; at most {} are accepted", spec.source, spec.normalizer.size(), max_steps);
  for (const NormalizerStep& what : spec.normalizer) {
    Step step{what, {}, {}};
    const bool by_pattern = what.kind == Kind::replace_text || what.kind == Kind::drop_at_end;
    if (by_pattern && what.pattern.empty()) continue;  // finds nothing
    if (what.kind == Kind::charsmap) step.charsmap.emplace_back(what.content, spec.source);
    if (what.kind == Kind::replace_regex) step.regex.emplace_back(what.pattern, spec.source);
    steps_.push_back(std::move(step));
  }
}

// False only where the step would surely give the text back: saves a copy for most texts.
bool Normalizer::changes(const Step& step, std::string_view text) const {
  switch (step.what.kind) {
    case Kind::nfc:
    case Kind::nfd:
    case Kind::nfkc:
    case Kind::nfkd:
    case Kind::strip_accents: return !is_ascii(text);
    case Kind::replace_text: return text.find(step.what.pattern) != std::string_view::npos;
    case Kind::prepend: return !text.empty();
    default: return true;
  }
}

void Normalizer::apply(const Step& step, std::string_view text, std::string& out, MatchScratch& scratch) const {
  switch (step.what.kind) {
    case Kind::nfc:
    case Kind::nfd:
    case Kind::nfkc:
    case Kind::nfkd: return append_normalized(form_of(step.what.kind), text, out);
    case Kind::lowercase: return append_lowercase(text, out);
    case Kind::strip_accents: return append_without_marks(text, out);
    case Kind::nmt: return append_nmt(text, out);
    case Kind::strip: out += stripped(text, step.what.left, step.what.right); return;
    case Kind::prepend: (out += step.what.content) += text; return;
    case Kind::replace_text: return append_replaced(text, step.what.pattern, step.what.content, out);
    case Kind::replace_regex: return append_replaced(text, step.regex[0], step.what.content, scratch, out);
    case Kind::charsmap: return step.charsmap[0].append(text, out);
    case Kind::drop_at_end: out += without_end(text, step.what.pattern); return;
    case Kind::collapse_spaces: return append_collapsed(text, out);
  }
}

std::string_view Normalizer::run(std::string_view text, std::string (&buffers)[2], MatchScratch& scratch) const {
  int free = 0;
  for (const Step& step : steps_) {
    if (!changes(step, text)) continue;
    std::string& out = buffers[free];
    out.clear();
    apply(step, text, out, scratch);
    text = out;
    free = 1 - free;
  }
  return text;
}

}  // namespace ridge::text
