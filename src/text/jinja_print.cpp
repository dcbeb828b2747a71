#include <charconv>
#include <cmath>
#include <cstring>

#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {

// Python's repr of a float: the shortest digits that read back as the same number; an exponent below 1e-4 and from
// 1e16.
std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  std::string out = text[0] == '-' ? "-" : "";
  if (text[0] == '-') text.remove_prefix(1);
  std::size_t e = text.find('e');
  std::string digits;
  for (char c : text.substr(0, e))
    if (c != '.') digits += c;
  int exponent = 0;
  std::string_view shown = text.substr(e + 1);
  if (shown[0] == '+') shown.remove_prefix(1);
  std::from_chars(shown.data(), shown.data() + shown.size(), exponent);
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += '.' + digits.substr(1);
    return out + fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  std::size_t point = static_cast<std::size_t>(exponent + 1);
  return out + digits.substr(0, point) + '.' + digits.substr(point);
}

std::string string_repr(std::string_view text) {
  bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    if (c.code == static_cast<unsigned char>(quote) || c.code == '\\') {
      out += '\\';
      out += static_cast<char>(c.code);
    } else if (c.code == '\n') out += "\\n";
    else if (c.code == '\r') out += "\\r";
    else if (c.code == '\t') out += "\\t";
    else if (is_printable(c.code) || c.code >= invalid_byte) out += text.substr(at, c.bytes);
    else if (c.code < 0x100) out += fmt::format("\\x{:02x}", c.code);
    else if (c.code < 0x10000) out += fmt::format("\\u{:04x}", c.code);
    else out += fmt::format("\\U{:08x}", c.code);
    at += c.bytes;
  }
  return out + quote;
}

namespace {

std::string items_repr(Machine& machine, const Value& value, int depth, char open, char close) {
  std::string out(1, open);
  bool first = true;
  for (const Value& item : value.items()) {
    if (!first) out += ", ";
    first = false;
    out += to_repr(machine, item, depth + 1);
  }
  if (value.is(ValueKind::tuple) && value.items().size() == 1) out += ',';
  return out + close;
}

std::string map_repr(Machine& machine, const ValueMap& map, int depth) {
  std::string out = "{";
  for (const auto& [key, item] : map.entries()) {
    if (out.size() > 1) out += ", ";
    out += to_repr(machine, key, depth + 1);
    out += ": ";
    out += to_repr(machine, item, depth + 1);
  }
  return out + '}';
}

}  // namespace

std::string to_repr(Machine& machine, const Value& value, int depth) {
  machine.step();
  if (depth > 2 * max_value_depth) machine.fail("a value that is printed nests too deep");
  switch (value.kind()) {
    case ValueKind::undefined: return "Undefined";
    case ValueKind::none: return "None";
    case ValueKind::boolean: return value.as_boolean() ? "True" : "False";
    case ValueKind::integer: return std::to_string(value.as_integer());
    case ValueKind::real: return real_repr(value.as_real());
    case ValueKind::string: {
      machine.charge(value.as_string().size());
      std::string text = string_repr(value.as_string());
      return value.text().markup ? "Markup(" + text + ")" : text;
    }
    case ValueKind::list: return items_repr(machine, value, depth, '[', ']');
    case ValueKind::tuple: return items_repr(machine, value, depth, '(', ')');
    case ValueKind::map: return map_repr(machine, value.entries(), depth);
    case ValueKind::object: return object_of(value).represent(machine, depth);
  }
  return {};
}

std::string to_str(Machine& machine, const Value& value) {
  if (value.is(ValueKind::string)) return value.as_string();
  if (value.is(ValueKind::undefined)) return {};
  return to_repr(machine, value);
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined: return "Undefined";
    case ValueKind::none: return "None";
    case ValueKind::boolean: return "bool";
    case ValueKind::integer: return "int";
    case ValueKind::real: return "float";
    case ValueKind::string: return value.text().markup ? "Markup" : "str";
    case ValueKind::list: return "list";
    case ValueKind::tuple: return "tuple";
    case ValueKind::map: return "dict";
    case ValueKind::object: return object_of(value).type_name();
  }
  return "?";
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

Value escape_html(Machine& machine, const Value& value) {
  if (value.is(ValueKind::string) && value.text().markup) return value;
  std::string text = escape_html(to_str(machine, value));
  machine.charge(text.size());
  return Value::markup(std::move(text));
}

}  // namespace ridge::text::jinja
