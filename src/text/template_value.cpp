#include "text/template_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "text/jinja_unicode.h"

namespace ridge::text {
namespace {

struct Hint : ValueNode {
  std::string text;
};

int checked_depth(int inner) {
  if (inner >= max_value_depth)
    fail_input("chat template: values nested deeper than {} are not accepted", max_value_depth);
  return inner + 1;
}

std::shared_ptr<ValueItems> make_items(std::vector<Value> items) {
  auto node = std::make_shared<ValueItems>();
  int inner = 0;
  for (const Value& item : items) inner = std::max(inner, item.depth());
  node->depth = checked_depth(inner);
  node->items = std::move(items);
  return node;
}

}  // namespace

Value Value::undefined(std::string hint) {
  auto node = std::make_shared<Hint>();
  node->text = std::move(hint);
  Value value;
  value.node_ = std::move(node);
  return value;
}

std::string_view Value::hint() const {
  return node_ ? static_cast<const Hint*>(node_.get())->text : std::string_view();
}

Value Value::none() {
  Value value;
  value.kind_ = ValueKind::none;
  return value;
}

Value Value::boolean(bool truth) {
  Value value;
  value.kind_ = ValueKind::boolean;
  value.integer_ = truth;
  return value;
}

Value Value::integer(std::int64_t number) {
  Value value;
  value.kind_ = ValueKind::integer;
  value.integer_ = number;
  return value;
}

Value Value::real(double number) {
  Value value;
  value.kind_ = ValueKind::real;
  value.real_ = number;
  return value;
}

Value Value::string(std::string bytes) {
  Value value;
  auto text = std::make_shared<ValueText>();
  text->length = jinja::count_characters(bytes);
  text->bytes = std::move(bytes);
  value.kind_ = ValueKind::string;
  value.node_ = std::move(text);
  return value;
}

Value Value::markup(std::string bytes) {
  Value value = string(std::move(bytes));
  static_cast<ValueText*>(value.node_.get())->markup = true;  // not shared yet
  return value;
}

Value Value::list(std::vector<Value> items) {
  Value value;
  value.kind_ = ValueKind::list;
  value.node_ = make_items(std::move(items));
  return value;
}

Value Value::tuple(std::vector<Value> items) {
  Value value;
  value.kind_ = ValueKind::tuple;
  value.node_ = make_items(std::move(items));
  return value;
}

Value Value::map(ValueMap entries) {
  int inner = 0;
  for (const auto& [key, item] : entries.entries()) inner = std::max({inner, key.depth(), item.depth()});
  entries.depth = checked_depth(inner);
  Value value;
  value.kind_ = ValueKind::map;
  value.node_ = std::make_shared<ValueMap>(std::move(entries));
  return value;
}

Value Value::object(std::shared_ptr<ValueNode> object) {
  Value value;
  value.kind_ = ValueKind::object;
  value.node_ = std::move(object);
  return value;
}

const std::vector<Value>& Value::items() const { return static_cast<const ValueItems*>(node_.get())->items; }
const ValueMap& Value::entries() const { return *static_cast<const ValueMap*>(node_.get()); }

namespace {

template <class Number> void append_number(char tag, Number number, std::string& out) {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out += tag;
  out.append(digits, end);
  out += ';';
}

}  // namespace

bool append_map_key(const Value& key, std::string& out) {
  switch (key.kind()) {
    case ValueKind::undefined: out += 'u'; return true;
    case ValueKind::none: out += 'n'; return true;
    case ValueKind::boolean:
    case ValueKind::integer: append_number('i', key.as_integer(), out); return true;
    case ValueKind::real: {
      double number = key.as_real();
      bool whole = number >= -9223372036854775808.0 && number < 9223372036854775808.0 && number == std::floor(number);
      if (whole) append_number('i', static_cast<std::int64_t>(number), out);
      else append_number('r', number, out);
      return true;
    }
    case ValueKind::string:
      append_number('s', key.as_string().size(), out);
      out += key.as_string();
      return true;
    case ValueKind::tuple:
      append_number('t', key.items().size(), out);
      for (const Value& item : key.items())
        if (!append_map_key(item, out)) return false;
      return true;
    case ValueKind::object: append_number('o', reinterpret_cast<std::uintptr_t>(key.node().get()), out); return true;
    case ValueKind::list:
    case ValueKind::map: return false;
  }
  return false;
}

bool ValueMap::set(Value key, Value value) {
  std::string form;
  if (!append_map_key(key, form)) return false;
  auto [place, fresh] = index_.try_emplace(std::move(form), entries_.size());
  if (fresh) entries_.emplace_back(std::move(key), std::move(value));
  else entries_[place->second].second = std::move(value);
  return true;
}

const Value* ValueMap::find(const Value& key) const {
  std::string form;
  if (!append_map_key(key, form)) return nullptr;
  auto place = index_.find(form);
  return place == index_.end() ? nullptr : &entries_[place->second].second;
}

const Value* ValueMap::find(std::string_view key) const {
  std::string form;
  append_number('s', key.size(), form);
  form += key;
  auto place = index_.find(form);
  return place == index_.end() ? nullptr : &entries_[place->second].second;
}

}  // namespace ridge::text
