#include <algorithm>
#include <cmath>

#include "text/jinja_format.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

class Writer {
 public:
  Writer(Machine& machine, const JsonStyle& style) : machine_(machine), style_(style) {}

  std::string run(const Value& value) {
    write(value, 0);
    machine_.charge(out_.size());
    return std::move(out_);
  }

 private:
  // Values nest no deeper than max_value_depth, so this may recurse.
  void write(const Value& value, int level) {
    machine_.step();
    if (out_.size() > machine_.limits.bytes) machine_.fail("JSON of more than {} bytes", machine_.limits.bytes);
    switch (value.kind()) {
      case ValueKind::none: out_ += "null"; return;
      case ValueKind::boolean: out_ += value.as_boolean() ? "true" : "false"; return;
      case ValueKind::integer: out_ += std::to_string(value.as_integer()); return;
      case ValueKind::real: out_ += number(value.as_real()); return;
      case ValueKind::string: text(value.as_string()); return;
      case ValueKind::list:
      case ValueKind::tuple: items(value.items(), level); return;
      case ValueKind::map: map(value.entries(), level); return;
      case ValueKind::undefined:
      case ValueKind::object: machine_.fail("a value of type {} cannot become JSON", type_name(value));
    }
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return real_repr(value);
  }

  void newline(int level) {
    if (!style_.indented) return;
    out_ += '\n';
    machine_.charge(static_cast<std::uint64_t>(level) * style_.indent.size());
    for (int i = 0; i < level; ++i) out_ += style_.indent;
  }

  void items(const std::vector<Value>& all, int level) {
    if (all.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      newline(level + 1);
      write(all[i], level + 1);
    }
    newline(level);
    out_ += ']';
  }

  void map(const ValueMap& map, int level) {
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : map.entries()) entries.push_back(&entry);
    if (style_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [&](auto* a, auto* b) { return is_less(machine_, a->first, b->first); });
    if (entries.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    bool first = true;
    for (const auto* entry : entries) {
      if (!first) out_ += style_.item_separator;
      first = false;
      newline(level + 1);
      key(entry->first);
      out_ += style_.key_separator;
      write(entry->second, level + 1);
    }
    newline(level);
    out_ += '}';
  }

  void key(const Value& key) {
    switch (key.kind()) {
      case ValueKind::string: text(key.as_string()); return;
      case ValueKind::none: out_ += "\"null\""; return;
      case ValueKind::boolean: out_ += key.as_boolean() ? "\"true\"" : "\"false\""; return;
      case ValueKind::integer: out_ += '"' + std::to_string(key.as_integer()) + '"'; return;
      case ValueKind::real: out_ += '"' + number(key.as_real()) + '"'; return;
      default: machine_.fail("a key of type {} cannot become JSON", type_name(key));
    }
  }

  void text(std::string_view text) {
    machine_.step(text.size() / 64);
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      char c = text[at];
      auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80) {
        Character wide = character_at(text, at);
        if (style_.ascii_only) escape(wide.code);
        else out_ += text.substr(at, wide.bytes);
        at += wide.bytes;
        continue;
      }
      ++at;
      switch (c) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\f': out_ += "\\f"; break;
        case '\b': out_ += "\\b"; break;
        default:
          if (byte < 0x20 || (byte == 0x7f && style_.ascii_only)) out_ += fmt::format("\\u{:04x}", byte);
          else out_ += c;
      }
    }
    out_ += '"';
  }

  void escape(std::uint32_t code) {
    if (code >= invalid_byte) code = 0xdc00 + (code - invalid_byte);  // as Python's surrogateescape reads such bytes
    if (code < 0x10000) {
      out_ += fmt::format("\\u{:04x}", code);
      return;
    }
    code -= 0x10000;
    out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
  }

  Machine& machine_;
  const JsonStyle& style_;
  std::string out_;
};

}  // namespace

std::string to_json(Machine& machine, const Value& value, const JsonStyle& style) {
  return Writer(machine, style).run(value);
}

}  // namespace ridge::text::jinja
