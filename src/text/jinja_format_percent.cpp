#include <cmath>

#include "text/jinja_format.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

struct Spec {
  bool left = false, zero = false, alternate = false;
  char sign = 0;  // '+' or ' '
  std::int64_t width = 0, precision = -1;
};

constexpr std::int64_t max_width = 1'000'000;

class Percent {
 public:
  Percent(Machine& machine, const Value& format, const Value& value)
      : machine_(machine), format_(format.as_string()), markup_(format.text().markup), value_(value) {
    mapping_ = value.is(ValueKind::map);
  }

  std::string run() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%') out_ += format_[at_++];
      else one();
    }
    // A dict, a list, or any other object with items may be left over.
    bool may_be_left = mapping_ || value_.is(ValueKind::list) || value_.is(ValueKind::undefined);
    if (!may_be_left && used_ < count()) machine_.fail("not all arguments are used by the format string");
    return std::move(out_);
  }

 private:
  std::size_t count() const { return value_.is(ValueKind::tuple) ? value_.items().size() : 1; }

  char take() {
    if (at_ >= format_.size()) machine_.fail("the format string ends within a '%'");
    return format_[at_++];
  }

  const Value& next_value() {
    if (named_) return *named_;
    if (used_ >= count()) machine_.fail("there are fewer arguments than the format string uses");
    const Value& value = value_.is(ValueKind::tuple) ? value_.items()[used_] : value_;
    ++used_;
    return value;
  }

  std::int64_t number(char first) {
    std::int64_t n = first - '0';
    while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
      n = n * 10 + (format_[at_++] - '0');
      if (n > max_width) machine_.fail("a width or precision in a format string is too large");
    }
    return n;
  }

  void take_name() {
    if (value_.is(ValueKind::undefined)) fail_undefined(machine_, value_);
    if (!mapping_) machine_.fail("a format string with names needs a dict");
    std::size_t depth = 1, start = at_;
    while (depth > 0) {
      char c = take();
      if (c == '(') ++depth;
      if (c == ')') --depth;
    }
    const Value* found = value_.entries().find(format_.substr(start, at_ - 1 - start));
    if (!found) machine_.fail("the dict of a format string has no key '{}'", format_.substr(start, at_ - 1 - start));
    named_ = found;
  }

  std::int64_t width_or_star(char& c) {
    std::int64_t n = 0;
    if (c == '*') {
      const Value& value = next_value();
      n = integer(value);
      if (std::abs(n) > max_width) machine_.fail("a width or precision in a format string is too large");
      c = take();
    } else if (c >= '0' && c <= '9') {
      n = number(c);
      c = take();
    }
    return n;
  }

  std::int64_t integer(const Value& value) {
    if (!value.is(ValueKind::integer) && !value.is(ValueKind::boolean))
      machine_.fail("'*' in a format string needs an integer");
    return value.as_integer();
  }

  void one() {
    ++at_;
    named_ = nullptr;
    char c = take();
    if (c == '%') {
      out_ += '%';
      return;
    }
    Spec spec;
    if (c == '(') {
      take_name();
      c = take();
    }
    for (;; c = take()) {
      if (c == '-') spec.left = true;
      else if (c == '0') spec.zero = true;
      else if (c == '#') spec.alternate = true;
      else if (c == '+') spec.sign = '+';
      else if (c == ' ') spec.sign = spec.sign ? spec.sign : ' ';
      else break;
    }
    spec.width = width_or_star(c);
    if (spec.width < 0) {
      spec.left = true;
      spec.width = -spec.width;
    }
    if (c == '.') {
      c = take();
      spec.precision = std::max<std::int64_t>(0, width_or_star(c));
    }
    if (c == 'h' || c == 'l' || c == 'L') c = take();
    convert(c, spec);
  }

  void convert(char kind, const Spec& spec) {
    switch (kind) {
      case '%': pad("%", "", spec, false); return;
      case 's':
      case 'r':
      case 'a': {
        const Value& value = next_value();
        std::string text = kind == 's' ? to_str(machine_, value) : to_repr(machine_, value);
        if (kind == 'a') machine_.fail("'%a' in a format string is not supported");
        if (markup_ && !(value.is(ValueKind::string) && value.text().markup && kind == 's')) text = escape_html(text);
        if (spec.precision >= 0) text.resize(byte_offset(text, spec.precision));
        pad(text, "", spec, false);
        return;
      }
      case 'c': character(spec); return;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': whole(kind, spec); return;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G': real(kind, spec); return;
      default: machine_.fail("'%{}' is not a format", kind);
    }
  }

  void character(const Spec& spec) {
    const Value& value = next_value();
    std::string text;
    if (value.is(ValueKind::string) && value.text().length == 1) text = value.as_string();
    else if (value.is(ValueKind::integer) && value.as_integer() >= 0 && value.as_integer() < 0x110000)
      append_character(static_cast<std::uint32_t>(value.as_integer()), text);
    else machine_.fail("'%c' needs a character");
    pad(text, "", spec, false);
  }

  void whole(char kind, const Spec& spec) {
    const Value& value = next_value();
    std::int64_t n = 0;
    if (value.is(ValueKind::integer) || value.is(ValueKind::boolean)) n = value.as_integer();
    else if (value.is(ValueKind::real) && kind != 'x' && kind != 'X' && kind != 'o')
      n = integer_of_double(machine_, value.as_real()).as_integer();
    else machine_.fail("'%{}' needs a number, not {}", kind, type_name(value));
    auto size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    std::string digits = kind == 'x'   ? fmt::format("{:x}", size)
                         : kind == 'X' ? fmt::format("{:X}", size)
                         : kind == 'o' ? fmt::format("{:o}", size)
                                       : fmt::format("{}", size);
    if (spec.precision > static_cast<std::int64_t>(digits.size()))
      digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
    std::string sign = n < 0 ? "-" : spec.sign ? std::string(1, spec.sign) : "";
    if (spec.alternate && (kind == 'x' || kind == 'X' || kind == 'o')) sign += std::string("0") + kind;
    pad(digits, sign, spec, spec.zero);
  }

  void real(char kind, const Spec& spec) {
    const Value& value = next_value();
    if (!is_number(value)) machine_.fail("'%{}' needs a number, not {}", kind, type_name(value));
    double x = to_double(machine_, value);
    std::int64_t precision = spec.precision < 0 ? 6 : spec.precision;
    std::string form = fmt::format("{{:{}.{}{}}}", spec.alternate ? "#" : "", precision, kind);
    std::string digits = fmt::format(fmt::runtime(form), std::fabs(x));
    std::string sign = std::signbit(x) && !std::isnan(x) ? "-" : spec.sign ? std::string(1, spec.sign) : "";
    pad(digits, sign, spec, spec.zero);
  }

  void pad(std::string_view text, std::string_view sign, const Spec& spec, bool zeros) {
    std::int64_t used = count_characters(text) + static_cast<std::int64_t>(sign.size());
    std::size_t fill = spec.width > used ? static_cast<std::size_t>(spec.width - used) : 0;
    machine_.charge(fill + text.size());
    if (fill && !spec.left && !zeros) out_.append(fill, ' ');
    out_ += sign;
    if (fill && !spec.left && zeros) out_.append(fill, '0');
    out_ += text;
    if (fill && spec.left) out_.append(fill, ' ');
  }

  Machine& machine_;
  const std::string& format_;
  bool markup_, mapping_;
  const Value& value_;
  const Value* named_ = nullptr;
  std::size_t at_ = 0, used_ = 0;
  std::string out_;
};

}  // namespace

Value format_percent(Machine& machine, const Value& format, const Value& value) {
  std::string text = Percent(machine, format, value).run();
  return format.text().markup ? Value::markup(std::move(text)) : machine.string(std::move(text));
}

}  // namespace ridge::text::jinja
