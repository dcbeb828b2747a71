#include "text/jinja_objects.h"

#include "text/jinja_python.h"

namespace ridge::text::jinja {
namespace {

class RangeIterator : public Iterator {
 public:
  RangeIterator(std::int64_t first, std::int64_t step, std::int64_t count) : next_(first), step_(step), left_(count) {}
  bool next(Machine& machine, Value& out) override {
    if (left_ == 0) return false;
    machine.step();
    out = Value::integer(next_);
    if (--left_ > 0) next_ += step_;
    return true;
  }

 private:
  std::int64_t next_, step_, left_;
};

class ViewIterator : public Iterator {
 public:
  ViewIterator(Value map, ViewKind kind, bool backwards) : map_(std::move(map)), kind_(kind), backwards_(backwards) {}
  bool next(Machine& machine, Value& out) override {
    const auto& entries = map_.entries().entries();
    if (at_ >= entries.size()) return false;
    machine.step();
    const auto& [key, value] = entries[backwards_ ? entries.size() - 1 - at_ : at_];
    ++at_;
    if (kind_ == ViewKind::keys) out = key;
    else if (kind_ == ViewKind::values) out = value;
    else out = machine.tuple({key, value});
    return true;
  }

 private:
  Value map_;
  ViewKind kind_;
  bool backwards_;
  std::size_t at_ = 0;
};

}  // namespace

Value Object::call(Machine& machine, Args&) { machine.fail("a {} cannot be called", type_name()); }

std::string Object::represent(Machine& machine, int) {
  machine.fail("printing a {} is not supported (Jinja2 prints its address)", type_name());
}

Value make_range(Machine& machine, std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) machine.fail("range() needs a step other than 0");
  auto span = step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  auto size = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  __int128 count = span <= 0 ? 0 : (span + size - 1) / size;
  if (count > 100000) machine.fail("range() of more than 100000 items is refused by the sandbox");
  Value value = make_object<RangeObject>(0);
  auto& range = *object_as<RangeObject>(value);
  range.start = start;
  range.stop = stop;
  range.step = step;
  range.count = static_cast<std::int64_t>(count);
  return value;
}

std::shared_ptr<Iterator> RangeObject::iterate(Machine&) { return std::make_shared<RangeIterator>(start, step, count); }

std::shared_ptr<Iterator> RangeObject::reversed(Machine&) {
  return std::make_shared<RangeIterator>(count > 0 ? at(count - 1) : start, -step, count);
}

bool RangeObject::item(Machine&, const Value& key, Value& out) {
  if (!key.is(ValueKind::integer) && !key.is(ValueKind::boolean)) return false;
  std::int64_t index = key.as_integer();
  if (index < 0) index += count;
  if (index < 0 || index >= count) return false;
  out = Value::integer(at(index));
  return true;
}

bool RangeObject::equals(Machine&, Object& other) {
  auto* range = dynamic_cast<RangeObject*>(&other);
  if (!range || range->count != count) return false;
  return count == 0 || (start == range->start && (count == 1 || step == range->step));
}

std::string RangeObject::represent(Machine&, int) {
  return step == 1 ? fmt::format("range({}, {})", start, stop) : fmt::format("range({}, {}, {})", start, stop, step);
}

std::string_view ViewObject::type_name() const {
  return kind == ViewKind::keys ? "dict_keys" : kind == ViewKind::values ? "dict_values" : "dict_items";
}
std::shared_ptr<Iterator> ViewObject::iterate(Machine&) { return std::make_shared<ViewIterator>(map, kind, false); }
std::shared_ptr<Iterator> ViewObject::reversed(Machine&) { return std::make_shared<ViewIterator>(map, kind, true); }

bool ViewObject::equals(Machine& machine, Object& other) {
  if (this == &other) return true;
  if (dynamic_cast<ViewObject*>(&other))
    machine.fail("comparing views of dicts is not supported; use the filter 'list'");
  return false;
}

std::string ViewObject::represent(Machine& machine, int level) {
  std::string out = std::string(type_name()) + "([";
  bool first = true;
  ViewIterator iterator(map, kind, false);
  for (Value item; iterator.next(machine, item);) {
    if (!first) out += ", ";
    first = false;
    out += to_repr(machine, item, level + 1);
  }
  return out + "])";
}

bool NamespaceObject::attribute(Machine&, const std::string& name, Value& out) {
  const Value* found = attributes.find(name);
  if (found) out = *found;
  return found != nullptr;
}

std::string NamespaceObject::represent(Machine& machine, int level) {
  std::string out = "<Namespace {";
  bool first = true;
  for (const auto& [key, value] : attributes.entries()) {
    if (!first) out += ", ";
    first = false;
    out += to_repr(machine, key, level + 1) + ": " + to_repr(machine, value, level + 1);
  }
  return out + "}>";
}

}  // namespace ridge::text::jinja
