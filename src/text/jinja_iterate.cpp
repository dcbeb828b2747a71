#include "text/jinja_objects.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

class ItemsIterator : public Iterator {
 public:
  ItemsIterator(Value items, bool backwards) : items_(std::move(items)), backwards_(backwards) {}
  bool next(Machine& machine, Value& out) override {
    const auto& all = items_.items();
    if (at_ >= all.size()) return false;
    machine.step();
    out = all[backwards_ ? all.size() - 1 - at_ : at_];
    ++at_;
    return true;
  }

 private:
  Value items_;
  bool backwards_;
  std::size_t at_ = 0;
};

class TextIterator : public Iterator {
 public:
  explicit TextIterator(Value text) : text_(std::move(text)) {}
  bool next(Machine& machine, Value& out) override {
    const std::string& text = text_.as_string();
    if (at_ >= text.size()) return false;
    machine.step();
    int bytes = character_at(text, at_).bytes;
    out = machine.string(text.substr(at_, bytes));
    at_ += bytes;
    return true;
  }

 private:
  Value text_;
  std::size_t at_ = 0;
};

class EmptyIterator : public Iterator {
 public:
  bool next(Machine&, Value&) override { return false; }
};

}  // namespace

Value Machine::string(std::string text) {
  charge(text.size() + sizeof(ValueText));
  return Value::string(std::move(text));
}
Value Machine::list(std::vector<Value> items) {
  charge(items.size() * sizeof(Value) + sizeof(ValueItems));
  return Value::list(std::move(items));
}
Value Machine::tuple(std::vector<Value> items) {
  charge(items.size() * sizeof(Value) + sizeof(ValueItems));
  return Value::tuple(std::move(items));
}
Value Machine::map(ValueMap entries) {
  charge(entries.size() * 200 + sizeof(ValueMap));
  return Value::map(std::move(entries));
}

std::shared_ptr<Iterator> iterate_items(std::vector<Value> items) {
  return std::make_shared<ItemsIterator>(Value::list(std::move(items)), false);
}

std::shared_ptr<Iterator> iterate(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined: return std::make_shared<EmptyIterator>();
    case ValueKind::string: return std::make_shared<TextIterator>(value);
    case ValueKind::list:
    case ValueKind::tuple: return std::make_shared<ItemsIterator>(value, false);
    case ValueKind::map: return ViewObject(value, ViewKind::keys).iterate(machine);
    case ValueKind::object:
      if (auto iterator = object_of(value).iterate(machine)) return iterator;
      break;
    default: break;
  }
  machine.fail("a value of type {} cannot be iterated", type_name(value));
}

std::shared_ptr<Iterator> reversed(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined: return std::make_shared<EmptyIterator>();
    case ValueKind::string: {
      std::vector<Value> all = to_items(machine, value);
      return iterate_items({all.rbegin(), all.rend()});
    }
    case ValueKind::list:
    case ValueKind::tuple: return std::make_shared<ItemsIterator>(value, true);
    case ValueKind::map: return ViewObject(value, ViewKind::keys).reversed(machine);
    case ValueKind::object: return object_of(value).reversed(machine);
    default: return nullptr;
  }
}

bool is_iterable(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined:
    case ValueKind::string:
    case ValueKind::list:
    case ValueKind::tuple:
    case ValueKind::map: return true;
    case ValueKind::object: return object_of(value).iterate(machine) != nullptr;
    default: return false;
  }
}

std::vector<Value> to_items(Machine& machine, const Value& value) {
  if (value.is(ValueKind::list) || value.is(ValueKind::tuple)) {
    machine.charge(value.items().size() * sizeof(Value));
    return value.items();
  }
  std::vector<Value> items;
  auto iterator = iterate(machine, value);
  for (Value item; iterator->next(machine, item);) {
    machine.charge(sizeof(Value));
    items.push_back(item);
  }
  return items;
}

std::optional<std::int64_t> try_length(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined: return 0;
    case ValueKind::string: return value.text().length;
    case ValueKind::list:
    case ValueKind::tuple: return static_cast<std::int64_t>(value.items().size());
    case ValueKind::map: return static_cast<std::int64_t>(value.entries().size());
    case ValueKind::object: {
      std::int64_t count = object_of(value).length(machine);
      if (count >= 0) return count;
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::int64_t length(Machine& machine, const Value& value) {
  auto count = try_length(machine, value);
  if (!count) machine.fail("a value of type {} has no length", type_name(value));
  return *count;
}

Value make_generator(std::string_view type, std::shared_ptr<Iterator> iterator, int inner_depth) {
  return make_object<GeneratorObject>(inner_depth, type, std::move(iterator));
}

}  // namespace ridge::text::jinja
