#include "text/jinja_unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/jinja_case_table.h"

namespace ridge::text::jinja {
namespace {

struct Run {
  std::uint32_t first, last;
};

template <std::size_t N> bool in_runs(const Run (&runs)[N], std::uint32_t code) {
  auto run = std::upper_bound(std::begin(runs), std::end(runs), code, [](auto c, const Run& r) { return c < r.first; });
  return run != std::begin(runs) && code <= (run - 1)->last;
}

// Characters of Numeric_Type=Digit that are not decimal digits (superscripts, circled digits ...).
constexpr Run other_digits[] = {{0xb2, 0xb3},       {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},
                                {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
                                {0x2474, 0x247c},   {0x2488, 0x2490},   {0x24ea, 0x24ea},   {0x24f5, 0x24fd},
                                {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},   {0x278a, 0x2792},
                                {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a}};

// Other_Uppercase and Other_Lowercase: cased characters that are not letters of category Lu or Ll.
constexpr Run other_upper[] = {
    {0x2160, 0x216f}, {0x24b6, 0x24cf}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
constexpr Run other_lower[] = {
    {0xaa, 0xaa},     {0xba, 0xba},     {0x2b0, 0x2b8},     {0x2c0, 0x2c1},     {0x2e0, 0x2e4},     {0x345, 0x345},
    {0x37a, 0x37a},   {0x1d2c, 0x1d6a}, {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},   {0x2071, 0x2071},   {0x207f, 0x207f},
    {0x2090, 0x209c}, {0x2170, 0x217f}, {0x24d0, 0x24e9},   {0x2c7c, 0x2c7d},   {0xa69c, 0xa69d},   {0xa770, 0xa770},
    {0xa7f8, 0xa7f9}, {0xab5c, 0xab5f}, {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}};

utf8proc_category_t category(std::uint32_t code) {
  return code < invalid_byte ? utf8proc_category(static_cast<utf8proc_int32_t>(code)) : UTF8PROC_CATEGORY_CS;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool is_cased(std::uint32_t code) { return is_upper(code) || is_lower(code) || is_title(code); }

bool is_case_ignorable(std::uint32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: break;
  }
  static constexpr std::uint32_t others[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,  0x5f4,  0x2018, 0x2019,
                                             0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
  return std::find(std::begin(others), std::end(others), code) != std::end(others);
}

// Unicode's rule Final_Sigma: a cased character before, none after, ignorable ones skipped.
bool is_final_sigma(std::string_view text, std::size_t position) {
  bool cased_before = false;
  for (std::size_t at = position; at > 0;) {
    --at;
    while (at > 0 && is_continuation(text[at])) --at;
    std::uint32_t code = character_at(text, at).code;
    if (is_case_ignorable(code)) continue;
    cased_before = is_cased(code);
    break;
  }
  if (!cased_before) return false;
  for (std::size_t at = position + 2; at < text.size();) {
    Character next = character_at(text, at);
    at += next.bytes;
    if (is_case_ignorable(next.code)) continue;
    return !is_cased(next.code);
  }
  return true;
}

void append_case(std::string_view text, std::size_t position, Character c, Case wanted, std::string& out) {
  if (c.code >= invalid_byte) {
    out += text[position];
    return;
  }
  if (wanted == Case::lower) {
    if (c.code == 0x3a3) append_character(is_final_sigma(text, position) ? 0x3c2 : 0x3c3, out);
    else if (c.code == 0x130) out += "i\xcc\x87";
    else append_character(static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code))), out);
    return;
  }
  const SpecialCase* end = special_cases + special_case_count;
  const SpecialCase* row = std::lower_bound(special_cases, end, c.code,
                                            [](const SpecialCase& r, std::uint32_t code) { return r.code < code; });
  if (row != end && row->code == c.code) {
    out += wanted == Case::upper ? row->upper : row->title;
    return;
  }
  auto code = static_cast<utf8proc_int32_t>(c.code);
  append_character(static_cast<std::uint32_t>(wanted == Case::upper ? utf8proc_toupper(code) : utf8proc_totitle(code)),
                   out);
}

template <class InSet> std::string_view strip_where(std::string_view text, Ends ends, InSet in_set) {
  std::size_t first = 0, last = text.size();
  if (ends != Ends::right) {
    while (first < last) {
      Character c = character_at(text, first);
      if (!in_set(c.code)) break;
      first += c.bytes;
    }
  }
  if (ends != Ends::left) {
    while (last > first) {
      std::size_t at = last - 1;
      while (at > first && is_continuation(text[at]) && last - at < 4) --at;
      Character c = character_at(text, at);
      if (at + c.bytes != last) c = character_at(text, at = last - 1);
      if (!in_set(c.code)) break;
      last = at;
    }
  }
  return text.substr(first, last - first);
}

}  // namespace

Character character_at(std::string_view text, std::size_t position) {
  auto byte = static_cast<unsigned char>(text[position]);
  if (byte < 0x80) return {byte, 1};
  utf8proc_int32_t code = -1;
  auto left = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(4, text.size() - position));
  auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + position), left, &code);
  if (used <= 0) return {invalid_byte + byte, 1};
  return {static_cast<std::uint32_t>(code), static_cast<int>(used)};
}

std::int64_t count_characters(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at += static_cast<unsigned char>(text[at]) < 0x80 ? 1 : character_at(text, at).bytes;
  }
  return count;
}

std::size_t byte_offset(std::string_view text, std::int64_t character) {
  std::size_t at = 0;
  while (character > 0 && at < text.size()) {
    at += character_at(text, at).bytes;
    --character;
  }
  return at;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    int bytes = character_at(text, at).bytes;
    all.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return all;
}

void append_character(std::uint32_t code, std::string& out) {
  if (code >= invalid_byte) {
    out += static_cast<char>(code - invalid_byte);
    return;
  }
  utf8proc_uint8_t bytes[4];
  auto used = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(used));
}

bool is_space(std::uint32_t code) {
  if (code < 0x80) return (code >= 9 && code <= 13) || (code >= 28 && code <= 32);
  return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

bool is_alpha(std::uint32_t code) {
  auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(std::uint32_t code) { return category(code) == UTF8PROC_CATEGORY_ND; }
bool is_digit(std::uint32_t code) { return is_decimal(code) || in_runs(other_digits, code); }

bool is_alnum(std::uint32_t code) {
  // str.isalnum also takes characters that are merely numeric (fractions, Roman and CJK numerals).
  auto kind = category(code);
  return is_alpha(code) || kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_printable(std::uint32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    case UTF8PROC_CATEGORY_ZS: return code == ' ';
    default: return true;
  }
}

bool is_upper(std::uint32_t code) { return category(code) == UTF8PROC_CATEGORY_LU || in_runs(other_upper, code); }
bool is_lower(std::uint32_t code) { return category(code) == UTF8PROC_CATEGORY_LL || in_runs(other_lower, code); }
bool is_title(std::uint32_t code) { return category(code) == UTF8PROC_CATEGORY_LT; }

bool is_line_end(std::uint32_t code) {
  return (code >= 10 && code <= 13) || (code >= 28 && code <= 30) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

std::string to_case(std::string_view text, Case wanted) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    append_case(text, at, c, wanted, out);
    at += c.bytes;
  }
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    append_case(text, at, c, at == 0 ? Case::title : Case::lower, out);
    at += c.bytes;
  }
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  bool after_cased = false;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    append_case(text, at, c, after_cased ? Case::lower : Case::title, out);
    after_cased = is_cased(c.code);
    at += c.bytes;
  }
  return out;
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    if (is_upper(c.code)) append_case(text, at, c, Case::lower, out);
    else if (is_lower(c.code)) append_case(text, at, c, Case::upper, out);
    else out += text.substr(at, c.bytes);
    at += c.bytes;
  }
  return out;
}

std::string_view strip(std::string_view text, Ends ends) { return strip_where(text, ends, is_space); }

std::string_view strip(std::string_view text, Ends ends, std::string_view set) {
  std::vector<std::uint32_t> codes;
  for (std::size_t at = 0; at < set.size();) {
    Character c = character_at(set, at);
    codes.push_back(c.code);
    at += c.bytes;
  }
  std::sort(codes.begin(), codes.end());
  return strip_where(text, ends,
                     [&](std::uint32_t code) { return std::binary_search(codes.begin(), codes.end(), code); });
}

}  // namespace ridge::text::jinja
