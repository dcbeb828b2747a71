#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

using Codes = std::vector<utf8proc_int32_t>;

int options_of(Form form) {
  const int compatible = form == Form::nfkc || form == Form::nfkd ? UTF8PROC_COMPAT : 0;
  return UTF8PROC_STABLE | compatible |
         (form == Form::nfc || form == Form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
}

// A character that no normal form changes and that joins with nothing before it: texts may be cut in front of it.
// Conservative: what has any decomposition, or can follow in a composition, is not one.
bool is_inert_start(char32_t code) {
  if (code < 0xA0) return true;
  if (code >= 0x4E00 && code <= 0x9FFF) return true;  // CJK ideographs
  const utf8proc_property_t& p = *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  if (p.combining_class != 0 || p.decomp_seqindex != UINT16_MAX) return false;
  if (code >= 0x1100 && code <= 0x11FF) return false;  // Hangul letters join by rule
  if (code >= 0xAC00 && code <= 0xD7FF) return false;  // and their syllables come apart by rule
  const bool second_in_pair = p.comb_index != UINT16_MAX && p.comb_index >= 0x8000;
  return !second_in_pair;
}

void decompose(char32_t code, int options, Codes& out) {
  utf8proc_int32_t parts[32];
  int boundary = 0;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, 32,
                                         static_cast<utf8proc_option_t>(options), &boundary);
  if (n < 0 || n > 32) fail_bug("utf8proc decomposes U+{:04X} into {} characters", static_cast<unsigned>(code), n);
  out.insert(out.end(), parts, parts + n);
}

// Canonical ordering (UAX #15, D108): runs of combining marks sorted by class, equals in their order.
void order_marks(Codes& codes) {
  const auto combining = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  for (std::size_t i = 0; i < codes.size();) {
    if (combining(codes[i]) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < codes.size() && combining(codes[end]) != 0) ++end;
    std::stable_sort(codes.begin() + static_cast<std::ptrdiff_t>(i), codes.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](utf8proc_int32_t a, utf8proc_int32_t b) { return combining(a) < combining(b); });
    i = end;
  }
}

void append_part(Form form, std::string_view part, Codes& codes, std::string& out) {
  const int options = options_of(form);
  codes.clear();
  for (std::size_t at = 0; at < part.size();) decompose(next_character(part, at), options, codes);
  order_marks(codes);
  auto n = static_cast<utf8proc_ssize_t>(codes.size());
  if (options & UTF8PROC_COMPOSE)
    n = utf8proc_normalize_utf32(codes.data(), n, static_cast<utf8proc_option_t>(options));
  for (utf8proc_ssize_t i = 0; i < n; ++i)
    append_character(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
}

}  // namespace

// Only the parts around characters that a form may change are taken apart; the rest is copied.
void append_normalized(Form form, std::string_view text, std::string& out) {
  Codes codes;
  std::size_t copied = 0;  // text before here is in `out`
  std::size_t start = 0;   // of the last inert character seen
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      start = at++;
      continue;
    }
    if (is_inert_start(next_character(text, at))) {
      start = here;
      continue;
    }
    std::size_t end = at;  // the part: from the inert character before, which a mark may join, to the next one
    while (end < text.size()) {
      std::size_t after = end;
      if (is_inert_start(next_character(text, after))) break;
      end = after;
    }
    out += text.substr(copied, start - copied);
    append_part(form, text.substr(start, end - start), codes, out);
    copied = start = at = end;
  }
  out += text.substr(copied);
}

void append_lowercase(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_character(text, at);
    if (code == 0x130) out += "i\xCC\x87";  // the one character whose lower case is two
    else append_character(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
}

bool is_mark(char32_t code) {
  const utf8proc_category_t c = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ME;
}

bool is_word(char32_t code) {
  if (code < 0x80)
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == '_';
  if (code == 0x200C || code == 0x200D) return true;  // Join_Control
  if ((code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
      (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189))
    return true;  // letters in circles and squares: Other_Alphabetic among the symbols
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return false;
  }
}

}  // namespace ridge::text
