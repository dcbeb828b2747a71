// The values that a chat template computes with: Python's none, bool, int, float, str, list, tuple and dict, and
// "undefined", which is what an absent name or key gives. Values are immutable and shared: a copy costs a pointer.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ridge::text {

// No list, tuple or map nests deeper than this, so that printing, comparing and freeing values may recurse.
inline constexpr int max_value_depth = 200;

enum class ValueKind : std::uint8_t { undefined, none, boolean, integer, real, string, list, tuple, map, object };

// What every shared part starts with. `depth` counts the containers nested inside, this one included.
struct ValueNode {
  int depth = 0;
};

// A string. `length` counts characters (code points; a byte that is not part of valid UTF-8 counts as one).
struct ValueText : ValueNode {
  std::string bytes;
  std::int64_t length = 0;
  bool markup = false;  // came out of the filters `safe` or `escape`: what is added to it gets escaped
};

struct ValueItems;
class ValueMap;

class Value {
 public:
  Value() = default;                         // undefined
  static Value undefined(std::string hint);  // `hint` is the error message if the template uses the value
  static Value none();
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value real(double value);
  static Value string(std::string bytes);
  static Value markup(std::string bytes);
  // These fail (as the user's input) when they would nest deeper than max_value_depth.
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value map(ValueMap entries);
  static Value object(std::shared_ptr<ValueNode> object);  // an object of the running template (jinja_machine.h)

  ValueKind kind() const { return kind_; }
  bool is(ValueKind kind) const { return kind_ == kind; }

  // Each of these may be called only on a value of its kind; `as_integer` also on a boolean.
  bool as_boolean() const { return integer_ != 0; }
  std::int64_t as_integer() const { return integer_; }
  double as_real() const { return real_; }
  const ValueText& text() const { return *static_cast<const ValueText*>(node_.get()); }
  const std::string& as_string() const { return text().bytes; }
  const std::vector<Value>& items() const;  // list or tuple
  const ValueMap& entries() const;          // map
  const std::shared_ptr<ValueNode>& node() const { return node_; }
  std::string_view hint() const;  // of an undefined value; may be empty
  int depth() const { return node_ ? node_->depth : 0; }

 private:
  ValueKind kind_ = ValueKind::undefined;
  union {
    std::int64_t integer_ = 0;
    double real_;
  };
  std::shared_ptr<ValueNode> node_;
};

struct ValueItems : ValueNode {
  std::vector<Value> items;
};

// A dict: entries in the order in which their keys were first set. Keys are compared as Python compares them
// (1, 1.0 and True are one key).
class ValueMap : public ValueNode {
 public:
  // Returns false, and changes nothing, if the key is of a kind that cannot be one (list, map).
  bool set(Value key, Value value);
  void set(std::string_view key, Value value) { set(Value::string(std::string(key)), std::move(value)); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

// Writes a form of `key` that is equal for two values exactly when Python's dict holds them as one key. False if the
// value cannot be a key.
bool append_map_key(const Value& key, std::string& out);

}  // namespace ridge::text
