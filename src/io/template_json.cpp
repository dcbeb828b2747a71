#include "io/template_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"

namespace ridge::io {
namespace {

using nlohmann::ordered_json;
using text::Value;
using text::ValueKind;
using text::ValueMap;

// Builds values from the parser's events, on a stack of its own, so that nesting costs no recursion.
class Builder : public nlohmann::json_sax<ordered_json> {
 public:
  explicit Builder(std::string_view what) : what_(what) {}
  Value result;

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    bool fits = value <= static_cast<number_unsigned_t>(INT64_MAX);
    return add(fits ? Value::integer(static_cast<std::int64_t>(value)) : Value::real(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Value::real(value)); }
  bool string(string_t& value) override { return add(Value::string(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override {
    Value value = Value::map(std::move(open_.back().map));
    open_.pop_back();
    return add(std::move(value));
  }
  bool end_array() override {
    Value value = Value::list(std::move(open_.back().items));
    open_.pop_back();
    return add(std::move(value));
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    fail_input("{}: byte {} is not valid JSON: {}", what_, position, error.what());
  }

 private:
  struct Open {
    bool is_map = false;
    std::string key;
    ValueMap map;
    std::vector<Value> items;
  };

  bool open(bool is_map) {
    // Room is left for what a template puts around its input.
    constexpr std::size_t most = text::max_value_depth - 20;
    if (open_.size() >= most) fail_input("{}: JSON nested deeper than {} is not accepted", what_, most);
    open_.emplace_back();
    open_.back().is_map = is_map;
    return true;
  }

  bool add(Value value) {
    if (open_.empty()) result = std::move(value);
    else if (open_.back().is_map) open_.back().map.set(open_.back().key, std::move(value));
    else open_.back().items.push_back(std::move(value));
    return true;
  }

  std::string_view what_;
  std::vector<Open> open_;
};

// Values nest at most text::max_value_depth deep.
ordered_json to_json(const Value& value) {
  switch (value.kind()) {
    case ValueKind::none: return nullptr;
    case ValueKind::boolean: return value.as_boolean();
    case ValueKind::integer: return value.as_integer();
    case ValueKind::real: return value.as_real();
    case ValueKind::string: return value.as_string();
    case ValueKind::list:
    case ValueKind::tuple: {
      ordered_json array = ordered_json::array();
      for (const Value& item : value.items()) array.push_back(to_json(item));
      return array;
    }
    case ValueKind::map: {
      ordered_json object = ordered_json::object();
      for (const auto& [key, item] : value.entries().entries()) {
        if (!key.is(ValueKind::string)) fail_input("a key that is not a string cannot become JSON");
        object[key.as_string()] = to_json(item);
      }
      return object;
    }
    case ValueKind::undefined:
    case ValueKind::object: break;
  }
  fail_bug("a value of a running template cannot become JSON");
}

}  // namespace

Value template_value_from_json(std::string_view json, std::string_view what) {
  Builder builder(what);
  if (!ordered_json::sax_parse(json.begin(), json.end(), &builder)) fail_input("{}: not valid JSON", what);
  return std::move(builder.result);
}

std::string template_value_to_json(const Value& value) {
  return to_json(value).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace ridge::io
