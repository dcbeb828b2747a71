// Methods of str.
#include <algorithm>

#include "text/jinja_arguments.h"
#include "text/jinja_builtins.h"
#include "text/jinja_format.h"
#include "text/jinja_methods.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

// Text that is marked safe stays so, but its methods escape their arguments; only arguments that need no escape are
// supported then.
Value same_kind(Machine& machine, const Value& self, std::string text) {
  machine.charge(text.size());
  return self.text().markup ? Value::markup(std::move(text)) : Value::string(std::move(text));
}
const std::string& harmless(Machine& machine, const Value& self, const std::string& argument) {
  if (self.text().markup && escape_html(argument) != argument)
    machine.fail("methods of text that is marked safe are not supported with arguments that need escaping");
  return argument;
}

const std::string& text_at(Machine& machine, const Args& args, std::size_t i) {
  return text_argument(machine, args.positional.size() > i ? &args.positional[i] : nullptr,
                       "an argument of this method");
}

template <Ends ends> Value strip_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 1);
  bool space = args.positional.empty() || args.positional[0].is(ValueKind::none);
  machine.step(self.as_string().size() / 64);
  return same_kind(
      machine, self,
      std::string(space ? strip(self.as_string(), ends) : strip(self.as_string(), ends, text_at(machine, args, 0))));
}

template <From from> Value split_method(Machine& machine, const Value& self, Args& args) {
  auto taken = take(machine, args, "split", {"sep", "maxsplit"});
  const std::string* separator =
      taken[0] && !taken[0]->is(ValueKind::none) ? &text_argument(machine, taken[0], "a separator") : nullptr;
  std::vector<Value> parts;
  for (std::string_view part :
       split_text(machine, self.as_string(), separator, integer_argument(machine, taken[1], -1, "'maxsplit'"), from))
    parts.push_back(same_kind(machine, self, std::string(part)));
  return machine.list(std::move(parts));
}

Value splitlines_method(Machine& machine, const Value& self, Args& args) {
  auto taken = take(machine, args, "splitlines", {"keepends"});
  std::vector<Value> lines;
  LineEnds ends = integer_argument(machine, taken[0], 0, "'keepends'") != 0 ? LineEnds::kept : LineEnds::dropped;
  for (std::string_view line : split_lines(self.as_string(), ends))
    lines.push_back(same_kind(machine, self, std::string(line)));
  return machine.list(std::move(lines));
}

template <From from> Value partition_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  const std::string& text = self.as_string();
  const std::string& separator = text_at(machine, args, 0);
  if (separator.empty()) machine.fail("'partition' needs a separator that is not empty");
  std::size_t at = from == From::left ? text.find(separator) : text.rfind(separator);
  auto piece = [&](std::size_t first, std::size_t count) {
    return same_kind(machine, self, text.substr(first, count));
  };
  if (at != std::string::npos)
    return machine.tuple({piece(0, at), piece(at, separator.size()), piece(at + separator.size(), std::string::npos)});
  Value whole = piece(0, text.size()), empty = piece(0, 0);
  return from == From::left ? machine.tuple({whole, empty, empty}) : machine.tuple({empty, empty, whole});
}

// The part of the text between the optional bounds `start` and `end` (in characters) of find, count, startswith ...
struct Window {
  std::string_view text;
  std::int64_t first = 0;  // character at which it starts
  bool exists = true;      // false: start lies behind the end
};
Window window(Machine& machine, const Value& self, const Args& args, std::size_t from) {
  const ValueText& text = self.text();
  auto bound = [&](std::size_t i, std::int64_t otherwise) {
    if (args.positional.size() <= i || args.positional[i].is(ValueKind::none)) return otherwise;
    std::int64_t at = integer_argument(machine, &args.positional[i], 0, "a bound");
    return at < 0 ? std::max<std::int64_t>(0, at + text.length) : at;
  };
  Window out;
  out.first = bound(from, 0);
  std::int64_t end = std::min(bound(from + 1, text.length), text.length);
  out.exists = out.first <= end;
  if (!out.exists) return out;
  machine.step(text.bytes.size() / 16);
  std::size_t start = byte_offset(text.bytes, out.first);
  out.text = std::string_view(text.bytes).substr(start);
  out.text = out.text.substr(0, byte_offset(out.text, end - out.first));
  return out;
}

template <Ends end> Value starts_or_ends(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 3);
  Window part = window(machine, self, args, 1);
  auto matches = [&](const Value& wanted) {
    const std::string& text = text_argument(machine, &wanted, "what a text starts or ends with");
    return part.exists && (end == Ends::left ? part.text.starts_with(text) : part.text.ends_with(text));
  };
  const Value& wanted = args.positional[0];
  if (!wanted.is(ValueKind::tuple)) return Value::boolean(matches(wanted));
  for (const Value& one : wanted.items())
    if (matches(one)) return Value::boolean(true);
  return Value::boolean(false);
}

enum class Missing : bool { minus_one, error };
template <From from, Missing missing> Value find_method_of(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 3);
  const std::string& wanted = text_at(machine, args, 0);
  Window part = window(machine, self, args, 1);
  std::size_t at = !part.exists         ? std::string::npos
                   : from == From::left ? part.text.find(wanted)
                                        : part.text.rfind(wanted);
  if (at != std::string_view::npos) return Value::integer(part.first + count_characters(part.text.substr(0, at)));
  if (missing == Missing::error) machine.fail("'index': the text is not found");
  return Value::integer(-1);
}

Value count_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 3);
  const std::string& wanted = text_at(machine, args, 0);
  Window part = window(machine, self, args, 1);
  if (!part.exists) return Value::integer(0);
  if (wanted.empty()) return Value::integer(count_characters(part.text) + 1);
  std::int64_t count = 0;
  for (std::size_t at = part.text.find(wanted); at != std::string_view::npos;
       at = part.text.find(wanted, at + wanted.size()))
    ++count;
  return Value::integer(count);
}

Value replace_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 2, 3);
  std::int64_t most = args.positional.size() > 2 ? integer_argument(machine, &args.positional[2], -1, "the count") : -1;
  return same_kind(machine, self,
                   replace_text(machine, self.as_string(), text_at(machine, args, 0),
                                harmless(machine, self, text_at(machine, args, 1)), most));
}

Value join_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  std::string out;
  bool first = true;
  auto iterator = iterate(machine, args.positional[0]);
  for (Value item; iterator->next(machine, item);) {
    if (!first) out += self.as_string();
    first = false;
    std::size_t before = out.size();
    if (self.text().markup) out += escape_html(machine, item).as_string();
    else out += text_argument(machine, &item, "what 'join' joins");
    machine.charge(out.size() - before + self.as_string().size());
  }
  return same_kind(machine, self, std::move(out));
}

template <Case wanted> Value case_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  machine.step(self.as_string().size() / 16);
  return same_kind(machine, self, to_case(self.as_string(), wanted));
}
template <std::string (*change)(std::string_view)>
Value change_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  machine.step(self.as_string().size() / 16);
  return same_kind(machine, self, change(self.as_string()));
}

Value casefold_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  for (char c : self.as_string())
    if (static_cast<unsigned char>(c) >= 0x80) machine.fail("'casefold' beyond ASCII is not supported");
  return same_kind(machine, self, to_case(self.as_string(), Case::lower));
}

template <bool (*wanted)(std::uint32_t)> Value all_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  const std::string& text = self.as_string();
  machine.step(text.size() / 16);
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    if (!wanted(c.code)) return Value::boolean(false);
    at += c.bytes;
  }
  return Value::boolean(!text.empty());
}
Value isascii_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  const std::string& text = self.as_string();
  return Value::boolean(
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}
Value isprintable_method(Machine& machine, const Value& self, Args& args) {
  return self.as_string().empty() ? Value::boolean(true) : all_method<is_printable>(machine, self, args);
}
template <const char* test> Value test_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  return Value::boolean(call_test(machine, test, self, {}));
}
constexpr char lower_test[] = "lower", upper_test[] = "upper";

Value istitle_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  const std::string& text = self.as_string();
  bool after_cased = false, some = false;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    at += c.bytes;
    bool big = is_upper(c.code) || is_title(c.code), small = is_lower(c.code);
    if ((big && after_cased) || (small && !after_cased)) return Value::boolean(false);
    after_cased = big || small;
    some = some || after_cased;
  }
  return Value::boolean(some);
}

enum class Side : std::uint8_t { left, right, center };
template <Side side> Value justify_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 2);
  std::int64_t width = integer_argument(machine, &args.positional[0], 0, "a width");
  std::string fill = args.positional.size() > 1 ? harmless(machine, self, text_at(machine, args, 1)) : " ";
  if (count_characters(fill) != 1) machine.fail("a fill must be one character");
  const ValueText& text = self.text();
  if (side == Side::center) return same_kind(machine, self, center_text(machine, text.bytes, width, fill));
  std::int64_t margin = std::max<std::int64_t>(0, width - text.length);
  machine.charge(static_cast<std::uint64_t>(margin) * fill.size());
  std::string padding;
  for (std::int64_t i = 0; i < margin; ++i) padding += fill;
  return same_kind(machine, self, side == Side::left ? text.bytes + padding : padding + text.bytes);
}

Value zfill_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  std::int64_t width = integer_argument(machine, &args.positional[0], 0, "a width");
  const ValueText& text = self.text();
  std::int64_t margin = std::max<std::int64_t>(0, width - text.length);
  machine.charge(static_cast<std::uint64_t>(margin));
  bool sign = !text.bytes.empty() && (text.bytes[0] == '-' || text.bytes[0] == '+');
  std::string out = text.bytes;
  out.insert(sign ? 1 : 0, static_cast<std::size_t>(margin), '0');
  return same_kind(machine, self, std::move(out));
}

template <Ends end> Value remove_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  const std::string& part = text_at(machine, args, 0);
  std::string_view text = self.as_string();
  if (end == Ends::left && text.starts_with(part)) text.remove_prefix(part.size());
  if (end == Ends::right && text.ends_with(part)) text.remove_suffix(part.size());
  return same_kind(machine, self, std::string(text));
}

Value expandtabs_method(Machine& machine, const Value& self, Args& args) {
  std::int64_t size = integer_argument(machine, take(machine, args, "expandtabs", {"tabsize"})[0], 8, "'tabsize'");
  std::string out;
  std::int64_t column = 0;
  const std::string& text = self.as_string();
  for (std::size_t at = 0; at < text.size();) {
    int bytes = character_at(text, at).bytes;
    if (text[at] == '\t') {
      std::int64_t fill = size > 0 ? size - column % size : 0;
      machine.charge(static_cast<std::uint64_t>(fill));
      out.append(static_cast<std::size_t>(fill), ' ');
      column += fill;
    } else {
      out += text.substr(at, bytes);
      column = text[at] == '\n' || text[at] == '\r' ? 0 : column + 1;
    }
    at += bytes;
  }
  return same_kind(machine, self, std::move(out));
}

Value format_method(Machine& machine, const Value& self, Args& args) { return format_braces(machine, self, args); }

Value format_map_method(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  if (!args.positional[0].is(ValueKind::map)) machine.fail("'format_map' needs a dict");
  Args named;
  for (const auto& [key, value] : args.positional[0].entries().entries())
    if (key.is(ValueKind::string)) named.named.emplace_back(key.as_string(), value);
  return format_braces(machine, self, named);
}

constexpr NamedMethod methods[] = {
    {"strip", strip_method<Ends::both>},
    {"lstrip", strip_method<Ends::left>},
    {"rstrip", strip_method<Ends::right>},
    {"split", split_method<From::left>},
    {"rsplit", split_method<From::right>},
    {"splitlines", splitlines_method},
    {"partition", partition_method<From::left>},
    {"rpartition", partition_method<From::right>},
    {"startswith", starts_or_ends<Ends::left>},
    {"endswith", starts_or_ends<Ends::right>},
    {"find", find_method_of<From::left, Missing::minus_one>},
    {"rfind", find_method_of<From::right, Missing::minus_one>},
    {"index", find_method_of<From::left, Missing::error>},
    {"rindex", find_method_of<From::right, Missing::error>},
    {"count", count_method},
    {"replace", replace_method},
    {"join", join_method},
    {"upper", case_method<Case::upper>},
    {"lower", case_method<Case::lower>},
    {"title", change_method<title>},
    {"capitalize", change_method<capitalize>},
    {"swapcase", change_method<swap_case>},
    {"casefold", casefold_method},
    {"isalpha", all_method<is_alpha>},
    {"isdigit", all_method<is_digit>},
    {"isdecimal", all_method<is_decimal>},
    {"isalnum", all_method<is_alnum>},
    {"isspace", all_method<is_space>},
    {"isascii", isascii_method},
    {"isprintable", isprintable_method},
    {"islower", test_method<lower_test>},
    {"isupper", test_method<upper_test>},
    {"istitle", istitle_method},
    {"ljust", justify_method<Side::left>},
    {"rjust", justify_method<Side::right>},
    {"center", justify_method<Side::center>},
    {"zfill", zfill_method},
    {"removeprefix", remove_method<Ends::left>},
    {"removesuffix", remove_method<Ends::right>},
    {"expandtabs", expandtabs_method},
    {"format", format_method},
    {"format_map", format_map_method},
};
constexpr std::string_view unsupported[] = {"encode", "isidentifier", "isnumeric", "maketrans", "translate"};

}  // namespace

MethodLookup find_text_method(std::string_view name) {
  for (const NamedMethod& method : methods)
    if (method.name == name) return {MethodKind::usable, method.function};
  bool known = std::find(std::begin(unsupported), std::end(unsupported), name) != std::end(unsupported);
  return known ? MethodLookup{MethodKind::unsupported} : MethodLookup{};
}

}  // namespace ridge::text::jinja
