#include <cmath>

#include "text/jinja_format.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

constexpr std::int64_t max_width = 1'000'000;

// [[fill]align][sign][#][0][width][grouping][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = 0, sign = 0, grouping = 0, type = 0;
  bool alternate = false, zero = false;
  std::int64_t width = -1, precision = -1;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::int64_t take_number(Machine& machine, std::string_view& spec) {
  if (spec.empty() || spec[0] < '0' || spec[0] > '9') return -1;
  std::int64_t n = 0;
  while (!spec.empty() && spec[0] >= '0' && spec[0] <= '9') {
    n = n * 10 + (spec[0] - '0');
    if (n > max_width) machine.fail("a width or precision in a format is too large");
    spec.remove_prefix(1);
  }
  return n;
}

Spec parse_spec(Machine& machine, std::string_view text) {
  Spec spec;
  bool fill_given = false;
  auto skip = [&](char c) { return !text.empty() && text[0] == c && (text.remove_prefix(1), true); };
  if (!text.empty()) {
    auto bytes = static_cast<std::size_t>(character_at(text, 0).bytes);
    if (text.size() > bytes && is_align(text[bytes])) {
      spec.fill = text.substr(0, bytes);
      spec.align = text[bytes];
      fill_given = true;
      text.remove_prefix(bytes + 1);
    } else if (is_align(text[0])) {
      spec.align = text[0];
      text.remove_prefix(1);
    }
  }
  for (char sign : {'+', '-', ' '})
    if (!spec.sign && skip(sign)) spec.sign = sign;
  spec.alternate = skip('#');
  if (!fill_given && skip('0')) {
    spec.zero = true;
    spec.fill = "0";
    if (!spec.align) spec.align = '=';
  }
  spec.width = take_number(machine, text);
  if (skip(',')) spec.grouping = ',';
  else if (skip('_')) spec.grouping = '_';
  if (skip('.')) {
    spec.precision = take_number(machine, text);
    if (spec.precision < 0) machine.fail("a format has no precision behind '.'");
  }
  if (text.size() > 1) machine.fail("'{}' is not a format", text);
  if (!text.empty()) spec.type = text[0];
  return spec;
}

void append_fill(const Spec& spec, std::int64_t count, std::string& out) {
  for (std::int64_t i = 0; i < count; ++i) out += spec.fill;
}

std::string align(Machine& machine, const Spec& spec, std::string_view sign, std::string_view text, char otherwise) {
  std::int64_t used = count_characters(text) + static_cast<std::int64_t>(sign.size());
  std::int64_t fill = std::max<std::int64_t>(0, spec.width - used);
  machine.charge(static_cast<std::uint64_t>(fill) * spec.fill.size());
  char side = spec.align ? spec.align : otherwise;
  std::string out;
  std::int64_t before = side == '>' ? fill : side == '^' ? fill / 2 : 0;
  append_fill(spec, before, out);
  out += sign;
  if (side == '=') append_fill(spec, fill, out);
  out += text;
  if (side != '=') append_fill(spec, fill - before, out);
  return out;
}

// Puts separators between groups of digits of the whole part; with zero fill, as many zeros as the width leaves room
// for.
std::string group(const Spec& spec, const std::string& digits, std::size_t size, std::size_t sign_size) {
  if (!spec.grouping) return digits;
  std::size_t whole = 0;
  while (whole < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[whole]))) ++whole;
  std::string integer = digits.substr(0, whole), rest = digits.substr(whole);
  auto grouped = [&] {
    std::string out;
    for (std::size_t i = 0; i < integer.size(); ++i) {
      if (i > 0 && (integer.size() - i) % size == 0) out += spec.grouping;
      out += integer[i];
    }
    return out + rest;
  };
  std::string out = grouped();
  if (spec.align == '=' && spec.fill == "0") {
    while (static_cast<std::int64_t>(out.size() + sign_size) < spec.width) {
      integer.insert(0, 1, '0');
      out = grouped();
    }
  }
  return out;
}

std::string sign_of(const Spec& spec, bool negative) {
  if (negative) return "-";
  return spec.sign == '+' || spec.sign == ' ' ? std::string(1, spec.sign) : "";
}

std::string format_integer(Machine& machine, const Spec& spec, std::int64_t n) {
  if (spec.precision >= 0) machine.fail("a precision is not allowed in the format of an integer");
  auto size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  std::string digits, prefix;
  switch (spec.type) {
    case 0:
    case 'n':
    case 'd': digits = fmt::format("{}", size); break;
    case 'x':
      digits = fmt::format("{:x}", size);
      prefix = "0x";
      break;
    case 'X':
      digits = fmt::format("{:X}", size);
      prefix = "0X";
      break;
    case 'o':
      digits = fmt::format("{:o}", size);
      prefix = "0o";
      break;
    case 'b':
      digits = fmt::format("{:b}", size);
      prefix = "0b";
      break;
    case 'c': {
      if (spec.sign || n < 0 || n > 0x10ffff) machine.fail("the format 'c' needs a character's number");
      std::string text;
      append_character(static_cast<std::uint32_t>(n), text);
      return align(machine, spec, "", text, '<');
    }
    default: machine.fail("the format '{}' does not work for int", spec.type);
  }
  bool decimal = spec.type == 0 || spec.type == 'd' || spec.type == 'n';
  if (spec.grouping == ',' && !decimal) machine.fail("',' does not work with the format '{}'", spec.type);
  std::string sign = sign_of(spec, n < 0) + (spec.alternate ? prefix : "");
  return align(machine, spec, sign, group(spec, digits, decimal ? 3 : 4, sign.size()), '>');
}

std::string format_real(Machine& machine, const Spec& spec, double x) {
  std::string digits;
  double size = std::fabs(x);
  char kind = spec.type;
  std::int64_t precision = spec.precision < 0 ? 6 : spec.precision;
  auto print = [&](char type, std::int64_t places, double value) {
    return fmt::format(fmt::runtime(fmt::format("{{:{}.{}{}}}", spec.alternate ? "#" : "", places, type)), value);
  };
  switch (kind) {
    case 0:
      if (spec.precision < 0) {
        digits = real_repr(size);
        break;
      }
      machine.fail("a float format with a precision needs a type, such as 'f' or 'g'");
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G': digits = print(kind, precision, size); break;
    case 'n': digits = print('g', precision, size); break;
    case '%': digits = print('f', precision, size * 100) + "%"; break;
    default: machine.fail("the format '{}' does not work for float", kind);
  }
  std::string sign = sign_of(spec, std::signbit(x) && !std::isnan(x));
  return align(machine, spec, sign, group(spec, digits, 3, sign.size()), '>');
}

class Braces {
 public:
  Braces(Machine& machine, const Args& args) : machine_(machine), args_(args) {}

  std::string run(std::string_view text, int depth) {
    if (depth > 2) machine_.fail("replacement fields in a format string are nested too deep");
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      char c = text[at++];
      if (c == '{' || c == '}') {
        if (at < text.size() && text[at] == c) {
          out += c;
          ++at;
          continue;
        }
        if (c == '}') machine_.fail("a single '}}' in a format string");
        std::size_t end = at, open = 1;
        for (; end < text.size() && open > 0; ++end) {
          if (text[end] == '[') {  // a key may hold braces
            while (end < text.size() && text[end] != ']') ++end;
            if (end >= text.size()) break;
          } else if (text[end] == '{') ++open;
          else if (text[end] == '}') --open;
        }
        if (open > 0) machine_.fail("a '{{' in a format string is not closed");
        out += field(text.substr(at, end - 1 - at), depth);
        at = end;
        machine_.charge(out.size() / 8);
        continue;
      }
      out += c;
    }
    machine_.charge(out.size());
    return out;
  }

 private:
  std::string field(std::string_view text, int depth) {
    std::size_t end = 0;
    for (; end < text.size() && text[end] != '!' && text[end] != ':'; ++end)
      if (text[end] == '[') end = std::min(text.find(']', end), text.size() - 1);
    std::string_view path = text.substr(0, end);
    char conversion = 0;
    std::string_view spec;
    if (end < text.size() && text[end] == '!') {
      if (end + 1 >= text.size()) machine_.fail("a format string ends behind '!'");
      conversion = text[end + 1];
      end += 2;
      if (end < text.size() && text[end] != ':') machine_.fail("a format string needs ':' behind the conversion");
    }
    if (end < text.size()) spec = text.substr(end + 1);
    if (path.find('{') != std::string_view::npos) machine_.fail("a format string has '{{' in a field name");
    Value value = lookup(path);
    if (conversion == 's') value = machine_.string(to_str(machine_, value));
    else if (conversion == 'r') value = machine_.string(to_repr(machine_, value));
    else if (conversion != 0) machine_.fail("the conversion '!{}' is not supported", conversion);
    return format_spec(machine_, value, run(spec, depth + 1));
  }

  Value lookup(std::string_view path) {
    number(path);
    std::size_t end = path.find_first_of(".[");
    std::string_view first = path.substr(0, end);
    Value value = first_value(first);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
    while (!path.empty()) {
      if (path[0] == '.') {
        std::size_t next = path.find_first_of(".[", 1);
        std::string name(path.substr(1, next == std::string_view::npos ? next : next - 1));
        if (name.empty()) machine_.fail("a format string has an empty attribute");
        value = get_attribute(machine_, value, name);
        path = next == std::string_view::npos ? std::string_view() : path.substr(next);
      } else if (path[0] == '[') {
        std::size_t close = path.find(']');
        if (close == std::string_view::npos || close == 1) machine_.fail("a format string has a wrong '['");
        value = get_item(machine_, value, key(path.substr(1, close - 1)));
        path = path.substr(close + 1);
      } else {
        machine_.fail("a format string needs '.' or '[' behind ']'");
      }
    }
    return value;
  }

  static bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }
  Value key(std::string_view text) {
    if (all_digits(text) && text.size() < 18) return Value::integer(std::stoll(std::string(text)));
    return Value::string(std::string(text));
  }

  // As string.Formatter: only a field that is nothing but a number (or nothing) takes part in the numbering.
  void number(std::string_view& path) {
    if (!path.empty() && !all_digits(path)) return;
    Numbering wanted = path.empty() ? Numbering::automatic : Numbering::manual;
    if (numbering_ != Numbering::open && numbering_ != wanted)
      machine_.fail("a format string mixes numbered and unnumbered fields");
    numbering_ = wanted;
    if (!path.empty()) return;
    automatic_ = std::to_string(next_++);
    path = automatic_;
  }

  Value first_value(std::string_view name) {
    if (all_digits(name)) {
      std::size_t index = name.size() < 10 ? std::stoull(std::string(name)) : SIZE_MAX;
      if (index >= args_.positional.size()) machine_.fail("a format string uses argument {}, which is not given", name);
      return args_.positional[index];
    }
    for (const auto& [known, value] : args_.named)
      if (known == name) return value;
    machine_.fail("a format string uses the argument '{}', which is not given", name);
  }

  enum class Numbering { open, automatic, manual };
  Machine& machine_;
  const Args& args_;
  Numbering numbering_ = Numbering::open;
  std::size_t next_ = 0;
  std::string automatic_;
};

}  // namespace

std::string format_spec(Machine& machine, const Value& value, std::string_view text) {
  if (text.empty()) return to_str(machine, value);
  switch (value.kind()) {
    case ValueKind::string: {
      Spec spec = parse_spec(machine, text);
      if (spec.align == '=' && spec.zero && spec.fill == "0") spec.align = '<';  // '0' pads strings on the right
      else if (spec.align == '=') machine.fail("'=' does not work in the format of a string");
      if (spec.sign || spec.alternate || spec.grouping || (spec.type && spec.type != 's'))
        machine.fail("the format '{}' does not work for a string", text);
      std::string_view shown = value.as_string();
      if (spec.precision >= 0) shown = shown.substr(0, byte_offset(shown, spec.precision));
      return align(machine, spec, "", shown, '<');
    }
    case ValueKind::boolean:
    case ValueKind::integer: {
      Spec spec = parse_spec(machine, text);
      bool real = spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
      if (real) return format_real(machine, spec, static_cast<double>(value.as_integer()));
      return format_integer(machine, spec, value.as_integer());
    }
    case ValueKind::real: return format_real(machine, parse_spec(machine, text), value.as_real());
    default: machine.fail("the format '{}' does not work for a value of type {}", text, type_name(value));
  }
}

Value format_braces(Machine& machine, const Value& format, const Args& args) {
  if (format.text().markup) machine.fail("'format' of text that is marked safe is not supported");
  return Value::string(Braces(machine, args).run(format.as_string(), 0));
}

}  // namespace ridge::text::jinja
