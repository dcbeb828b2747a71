#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>

#include "base/error.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

constexpr std::uint32_t max_match_steps = 100'000'000;    // per match
constexpr std::uint32_t max_match_heap_kib = 512 * 1024;  // of the interpreter, which is used where JIT cannot
constexpr std::size_t max_pattern_bytes = 64 * 1024;

template <auto free> struct Free {
  template <class T> void operator()(T* p) const { free(p); }
};
template <class T, auto free> using Handle = std::unique_ptr<T, Free<free>>;

std::string message_of(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct MatchScratch::Parts {
  Handle<pcre2_match_data, pcre2_match_data_free> data{pcre2_match_data_create(1, nullptr)};
  Handle<pcre2_match_context, pcre2_match_context_free> context{pcre2_match_context_create(nullptr)};
  Handle<pcre2_jit_stack, pcre2_jit_stack_free> stack{pcre2_jit_stack_create(32 * 1024, 16 * 1024 * 1024, nullptr)};
};

MatchScratch::MatchScratch() : parts_(std::make_unique<Parts>()) {
  if (!parts_->data || !parts_->context) fail_machine("no memory for matching regular expressions");
  pcre2_set_match_limit(parts_->context.get(), max_match_steps);
  pcre2_set_heap_limit(parts_->context.get(), max_match_heap_kib);
  if (parts_->stack) pcre2_jit_stack_assign(parts_->context.get(), nullptr, parts_->stack.get());
}
MatchScratch::~MatchScratch() = default;

struct Regex::Code {
  Handle<pcre2_code, pcre2_code_free> code;
  bool jit = false;
  std::string pattern, source;
};

Regex::Regex(std::string_view oniguruma, std::string_view source) : code_(std::make_unique<Code>()) {
  if (oniguruma.size() > max_pattern_bytes)
    fail_input("{}: a regular expression of {} bytes; at most {} are accepted", source, oniguruma.size(),
               max_pattern_bytes);
  const std::string pattern = to_pcre2(oniguruma, source);
  Handle<pcre2_compile_context, pcre2_compile_context_free> context{pcre2_compile_context_create(nullptr)};
  if (!context) fail_machine("no memory for regular expressions");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE at = 0;
  const std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;
  code_->code.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &error, &at, context.get()));
  if (!code_->code)
    fail_input("{}: regular expression '{}': {} (at byte {} of '{}')", source, oniguruma, message_of(error), at,
               pattern);
  code_->jit = pcre2_jit_compile(code_->code.get(), PCRE2_JIT_COMPLETE) == 0;
  code_->pattern = oniguruma;
  code_->source = source;
}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

bool Regex::find(std::string_view text, std::size_t from, MatchScratch& scratch, Match& match) const {
  MatchScratch::Parts& parts = *scratch.parts_;
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->jit)
    found = pcre2_jit_match(code_->code.get(), subject, text.size(), from, 0, parts.data.get(), parts.context.get());
  if (found == PCRE2_ERROR_JIT_STACKLIMIT)
    found = pcre2_match(code_->code.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                        parts.data.get(), parts.context.get());
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0)
    fail_input("{}: regular expression '{}' on a text of {} bytes: {}", code_->source, code_->pattern, text.size(),
               message_of(found));
  const PCRE2_SIZE* span = pcre2_get_ovector_pointer(parts.data.get());
  match = {span[0], span[1]};
  if (match.begin > match.end || match.begin < from)  // \K in a look-around
    fail_input("{}: regular expression '{}' matches before its start", code_->source, code_->pattern);
  return true;
}

bool Matches::next(Match& match) {
  while (from_ <= text_.size()) {
    if (!regex_.find(text_, from_, scratch_, match)) break;
    if (match.begin == match.end && match.end == last_end_) {  // step over one character and try again
      from_ += from_ < text_.size() ? character_bytes(text_[from_]) : 1;
      continue;
    }
    from_ = last_end_ = match.end;
    return true;
  }
  from_ = text_.size() + 1;
  return false;
}

}  // namespace ridge::text
