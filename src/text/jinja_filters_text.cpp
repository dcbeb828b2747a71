// Filters that give text.
#include <algorithm>
#include <cmath>

#include "text/jinja_filters.h"
#include "text/jinja_format.h"
#include "text/jinja_methods.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

// Runs a method of str on the value as text.
Value text_method(Machine& machine, std::string_view method, const Value& value, Args& args) {
  return find_text_method(method).function(machine, soft_text(machine, value), args);
}

template <const char* method> Value method_filter(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, method);
  return text_method(machine, method, value, args);
}
constexpr char upper[] = "upper", lower[] = "lower", capitalize_name[] = "capitalize";

Value trim(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "trim", {"chars"});
  Args chars;
  if (taken[0]) chars.positional.push_back(*taken[0]);
  return text_method(machine, "strip", value, chars);
}

// Words start behind white space, '-', '(', '{', '[' and '<'.
Value title_filter(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "title");
  std::string text = to_str(machine, value), out;
  machine.step(text.size() / 16);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size()) {
      Character c = character_at(text, end);
      bool gap = is_space(c.code) ||
                 (c.code < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.code)) != std::string_view::npos);
      if (gap) break;
      end += c.bytes;
    }
    if (end > at) {
      int first = character_at(text, at).bytes;
      out += to_case(std::string_view(text).substr(at, first), Case::upper);
      out += to_case(std::string_view(text).substr(at + first, end - at - first), Case::lower);
      at = end;
      continue;
    }
    int bytes = character_at(text, at).bytes;
    out += text.substr(at, bytes);
    at += bytes;
  }
  return machine.string(std::move(out));
}

Value replace(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "replace", {"old", "new", "count"}, 2);
  std::int64_t count =
      taken[2] && !taken[2]->is(ValueKind::none) ? integer_argument(machine, taken[2], -1, "the count") : -1;
  return machine.string(
      replace_text(machine, to_str(machine, value), to_str(machine, *taken[0]), to_str(machine, *taken[1]), count));
}

Value join(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "join", {"d", "attribute"});
  std::string separator = taken[0] ? to_str(machine, *taken[0]) : "";
  AttributePath path(machine, taken[1]);
  std::string out;
  bool first = true;
  auto iterator = iterate(machine, value);
  for (Value item; iterator->next(machine, item);) {
    std::size_t before = out.size();
    if (!first) out += separator;
    first = false;
    out += to_str(machine, path.of(machine, item));
    machine.charge(out.size() - before);
  }
  return machine.string(std::move(out));
}

Value center(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "center", {"width"});
  Args width;
  width.positional.push_back(taken[0] ? *taken[0] : Value::integer(80));
  return text_method(machine, "center", value, width);
}

Value indent(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "indent", {"width", "first", "blank"});
  if (value.is(ValueKind::undefined)) fail_undefined(machine, value);
  if (!value.is(ValueKind::string)) machine.fail("the filter 'indent' needs a string, not {}", type_name(value));
  std::string margin;
  bool markup = value.text().markup;
  if (taken[0] && taken[0]->is(ValueKind::string)) {
    margin = markup && !taken[0]->text().markup ? escape_html(taken[0]->as_string()) : taken[0]->as_string();
  } else {
    std::int64_t width = integer_argument(machine, taken[0], 4, "the width");
    if (width > 100'000) machine.fail("an indent of more than 100000 is not accepted");
    margin.assign(static_cast<std::size_t>(std::max<std::int64_t>(0, width)), ' ');
  }
  bool blank = truth_argument(machine, taken[2], false);
  std::string text = value.as_string() + "\n", out;
  if (truth_argument(machine, taken[1], false)) out += margin;
  bool first = true;
  for (std::string_view line : split_lines(text, LineEnds::dropped)) {
    if (!first) {
      out += '\n';
      if (blank || !line.empty()) out += margin;
      machine.charge(margin.size());
    }
    first = false;
    out += line;
  }
  return markup ? Value::markup(std::move(out)) : machine.string(std::move(out));
}

Value truncate(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "truncate", {"length", "killwords", "end", "leeway"});
  std::int64_t length = integer_argument(machine, taken[0], 255, "the length");
  std::string end = taken[2] ? text_argument(machine, taken[2], "'end'") : "...";
  bool no_leeway = !taken[3] || taken[3]->is(ValueKind::none);
  std::int64_t leeway = no_leeway ? 5 : integer_argument(machine, taken[3], 5, "'leeway'");
  if (length < count_characters(end)) machine.fail("the length of 'truncate' is less than that of its end");
  if (leeway < 0) machine.fail("the leeway of 'truncate' is negative");
  if (jinja::length(machine, value) - leeway <= length) return value;
  if (!value.is(ValueKind::string))
    machine.fail("the filter 'truncate' cannot cut a value of type {}", type_name(value));
  const ValueText& text = value.text();
  if (text.markup) machine.fail("'truncate' of text that is marked safe is not supported");
  std::string kept = text.bytes.substr(0, byte_offset(text.bytes, length - count_characters(end)));
  if (!truth_argument(machine, taken[1], false)) {
    std::size_t space = kept.rfind(' ');
    if (space != std::string::npos) kept.resize(space);
  }
  return machine.string(kept + end);
}

Value wordcount(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "wordcount");
  std::string text = to_str(machine, value);
  machine.step(text.size() / 16);
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    bool word = is_alnum(c.code) || c.code == '_';
    if (word && !inside) ++words;
    inside = word;
    at += c.bytes;
  }
  return Value::integer(words);
}

Value string(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "string");
  return soft_text(machine, value);
}

Value safe(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "safe");
  return Value::markup(to_str(machine, value));
}
Value escape(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "escape");
  return escape_html(machine, value);
}
Value force_escape(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "forceescape");
  return Value::markup(escape_html(to_str(machine, value)));
}

Value format(Machine& machine, const Value& value, Args& args) {
  if (!args.positional.empty() && !args.named.empty())
    machine.fail("the filter 'format' takes positional or named arguments, not both");
  Value text = soft_text(machine, value);
  if (args.named.empty()) return format_percent(machine, text, machine.tuple(args.positional));
  ValueMap named;
  for (const auto& [name, item] : args.named) named.set(name, item);
  return format_percent(machine, text, machine.map(std::move(named)));
}

std::string quote_url(std::string_view text, bool in_query) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                 c == '-' || c == '~' || (c == '/' && !in_query);
    if (plain) out += c;
    else if (c == ' ' && in_query) out += '+';
    else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Value urlencode(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "urlencode");
  if (value.is(ValueKind::string) || !is_iterable(machine, value))
    return machine.string(quote_url(to_str(machine, value), false));
  std::string out;
  auto add = [&](const Value& key, const Value& item) {
    if (!out.empty()) out += '&';
    out += quote_url(to_str(machine, key), true) + "=" + quote_url(to_str(machine, item), true);
    machine.step(16);
  };
  if (value.is(ValueKind::map)) {
    for (const auto& [key, item] : value.entries().entries()) add(key, item);
  } else {
    for (const Value& pair : to_items(machine, value)) {
      std::vector<Value> both = to_items(machine, pair);
      if (both.size() != 2) machine.fail("the filter 'urlencode' needs pairs of key and value");
      add(both[0], both[1]);
    }
  }
  return machine.string(std::move(out));
}

Value xmlattr(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "xmlattr", {"autospace"});
  if (!value.is(ValueKind::map)) machine.fail("the filter 'xmlattr' needs a dict, not {}", type_name(value));
  std::string out;
  for (const auto& [key, item] : value.entries().entries()) {
    if (item.is(ValueKind::none) || item.is(ValueKind::undefined)) continue;
    const std::string& name = text_argument(machine, &key, "the name of an attribute");
    if (name.find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      machine.fail("'{}' is not the name of an attribute", name);
    if (!out.empty()) out += ' ';
    out += escape_html(machine, key).as_string() + "=\"" + escape_html(machine, item).as_string() + '"';
  }
  if (!out.empty() && truth_argument(machine, taken[0], true)) out.insert(0, 1, ' ');
  return machine.string(std::move(out));
}

Value tojson(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii_only = truth_argument(machine, taken[0], false);
  style.sort_keys = truth_argument(machine, taken[3], false);
  if (taken[1] && !taken[1]->is(ValueKind::none)) {
    style.indented = true;
    style.item_separator = ",";
    if (taken[1]->is(ValueKind::string)) style.indent = taken[1]->as_string();
    else {
      std::int64_t width = integer_argument(machine, taken[1], 0, "the indent");
      if (width > 1000) machine.fail("an indent of more than 1000 is not accepted");
      style.indent.assign(static_cast<std::size_t>(std::max<std::int64_t>(0, width)), ' ');
    }
  }
  if (taken[2] && !taken[2]->is(ValueKind::none)) {
    std::vector<Value> both = to_items(machine, *taken[2]);
    if (both.size() != 2) machine.fail("'separators' of the filter 'tojson' needs two strings");
    style.item_separator = text_argument(machine, &both[0], "a separator");
    style.key_separator = text_argument(machine, &both[1], "a separator");
  }
  return machine.string(to_json(machine, value, style));
}

Value filesizeformat(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "filesizeformat", {"binary"});
  bool binary = truth_argument(machine, taken[0], false);
  double bytes = 0;
  if (is_number(value)) bytes = to_double(machine, value);
  else if (auto parsed = value.is(ValueKind::string) ? parse_real(value.as_string()) : std::nullopt) bytes = *parsed;
  else machine.fail("the filter 'filesizeformat' needs a number, not {}", type_name(value));
  double base = binary ? 1024 : 1000;
  if (bytes == 1) return machine.string("1 Byte");
  if (bytes < base) return machine.string(fmt::format("{} Bytes", integer_of_double(machine, bytes).as_integer()));
  static constexpr std::string_view units = "kMGTPEZY";
  double unit = base;
  for (std::size_t i = 0; i < units.size(); ++i) {
    unit *= base;
    if (!(bytes < unit) && i + 1 < units.size()) continue;
    std::string name = binary ? std::string(1, i == 0 ? 'K' : units[i]) + "iB" : std::string(1, units[i]) + "B";
    return machine.string(fmt::format("{:.1f} {}", base * bytes / unit, name));
  }
  return machine.string("");
}

constexpr NamedFilter filters[] = {
    {"upper", method_filter<upper>},
    {"lower", method_filter<lower>},
    {"capitalize", method_filter<capitalize_name>},
    {"title", title_filter},
    {"trim", trim},
    {"replace", replace},
    {"join", join},
    {"center", center},
    {"indent", indent},
    {"truncate", truncate},
    {"wordcount", wordcount},
    {"string", string},
    {"safe", safe},
    {"e", escape},
    {"escape", escape},
    {"forceescape", force_escape},
    {"format", format},
    {"urlencode", urlencode},
    {"xmlattr", xmlattr},
    {"tojson", tojson},
    {"filesizeformat", filesizeformat},
};

}  // namespace

std::span<const NamedFilter> text_filters() { return filters; }

}  // namespace ridge::text::jinja
