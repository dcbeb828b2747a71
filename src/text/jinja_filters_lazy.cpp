// Filters that in Jinja2 are generators: they compute an item when it is asked for, and can be walked through once.
#include <algorithm>
#include <set>

#include "text/jinja_filters.h"
#include "text/jinja_objects.h"

namespace ridge::text::jinja {
namespace {

int depth_of(const Value& value, const Args& args) {
  int depth = value.depth();
  for (const Value& argument : args.positional) depth = std::max(depth, argument.depth());
  for (const auto& argument : args.named) depth = std::max(depth, argument.second.depth());
  return depth + 1;
}

template <class Source> Value generator(Machine& machine, const Value& value, Args& args) {
  int depth = depth_of(value, args);
  machine.charge(256);
  return make_generator("generator", std::make_shared<Source>(value, std::move(args)), depth);
}

// Looks at its input when the first item is asked for, as a generator's body does.
class LazyFilter : public Iterator {
 public:
  LazyFilter(Value value, Args args) : value_(std::move(value)), args_(std::move(args)) {}
  bool next(Machine& machine, Value& out) final {
    Deeper deeper(machine);
    if (done_) return false;
    if (!std::exchange(started_, true)) done_ = !start(machine);
    if (!done_ && step(machine, out)) return true;
    done_ = true;
    return false;
  }

 protected:
  virtual bool start(Machine& machine) = 0;  // false: there are no items
  virtual bool step(Machine& machine, Value& out) = 0;

  Value value_;
  Args args_;
  std::shared_ptr<Iterator> source_;

 private:
  bool started_ = false, done_ = false;
};

class MapFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    if (!is_truthy(machine, value_)) return false;
    if (args_.positional.empty()) {
      const Value* attribute = nullptr;
      const Value* otherwise = nullptr;
      for (const auto& [name, value] : args_.named) {
        if (name == "attribute") attribute = &value;
        else if (name == "default") otherwise = &value;
        else machine.fail("the filter 'map' takes no argument named '{}'", name);
      }
      if (!attribute) machine.fail("the filter 'map' needs the name of a filter, or 'attribute'");
      path_.emplace(machine, attribute, otherwise);
    } else {
      name_ = text_argument(machine, &args_.positional[0], "the name of a filter");
      args_.positional.erase(args_.positional.begin());
    }
    source_ = iterate(machine, value_);
    return true;
  }

  bool step(Machine& machine, Value& out) override {
    Value item;
    if (!source_->next(machine, item)) return false;
    out = path_ ? path_->of(machine, item) : call_filter(machine, name_, item, args_);
    return true;
  }

  std::optional<AttributePath> path_;
  std::string name_;
};

enum class Choose : bool { passing, failing };

template <Choose choose, bool by_attribute> class SelectFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    if (!is_truthy(machine, value_)) return false;
    if (by_attribute) {
      if (args_.positional.empty()) machine.fail("this filter needs the name of an attribute");
      path_.emplace(machine, &args_.positional[0]);
      args_.positional.erase(args_.positional.begin());
    }
    if (!args_.positional.empty()) {
      name_ = text_argument(machine, &args_.positional[0], "the name of a test");
      args_.positional.erase(args_.positional.begin());
    }
    source_ = iterate(machine, value_);
    return true;
  }

  bool step(Machine& machine, Value& out) override {
    while (source_->next(machine, out)) {
      Value looked_at = path_ ? path_->of(machine, out) : out;
      bool passes = name_ ? call_test(machine, *name_, looked_at, args_) : is_truthy(machine, looked_at);
      if (passes == (choose == Choose::passing)) return true;
    }
    return false;
  }

  std::optional<AttributePath> path_;
  std::optional<std::string> name_;
};

class UniqueFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    auto taken = take(machine, args_, "unique", {"case_sensitive", "attribute"});
    exact_ = truth_argument(machine, taken[0], false);
    path_.emplace(machine, taken[1]);
    source_ = iterate(machine, value_);
    return true;
  }

  bool step(Machine& machine, Value& out) override {
    while (source_->next(machine, out)) {
      Value key = path_->of(machine, out);
      std::string form;
      if (!append_map_key(exact_ ? key : fold_case(machine, key), form))
        machine.fail("a {} cannot be told apart by 'unique'", type_name(key));
      machine.charge(form.size());
      if (seen_.insert(std::move(form)).second) return true;
    }
    return false;
  }

  bool exact_ = false;
  std::optional<AttributePath> path_;
  std::set<std::string> seen_;
};

class BatchFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    auto taken = take(machine, args_, "batch", {"linecount", "fill_with"}, 1);
    count_ = integer_argument(machine, taken[0], 0, "'linecount'");
    if (taken[1] && !taken[1]->is(ValueKind::none)) fill_ = *taken[1];
    source_ = iterate(machine, value_);
    return true;
  }

  bool step(Machine& machine, Value& out) override {
    for (Value item; source_->next(machine, item);) {
      bool full = static_cast<std::int64_t>(batch_.size()) == count_;
      if (full) out = machine.list(std::exchange(batch_, {}));
      batch_.push_back(item);
      if (full) return true;
    }
    if (batch_.empty()) return false;
    auto missing = count_ - static_cast<std::int64_t>(batch_.size());
    if (fill_ && missing > 0) {
      machine.step(static_cast<std::uint64_t>(missing));
      batch_.insert(batch_.end(), static_cast<std::size_t>(missing), *fill_);
    }
    out = machine.list(std::exchange(batch_, {}));
    return true;
  }

  std::int64_t count_ = 0;
  std::optional<Value> fill_;
  std::vector<Value> batch_;
};

class SliceFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    auto taken = take(machine, args_, "slice", {"slices", "fill_with"}, 1);
    items_ = to_items(machine, value_);
    slices_ = integer_argument(machine, taken[0], 0, "'slices'");
    if (slices_ == 0) machine.fail("the filter 'slice' cannot make 0 slices");
    if (taken[1] && !taken[1]->is(ValueKind::none)) fill_ = *taken[1];
    return true;
  }

  bool step(Machine& machine, Value& out) override {
    if (at_ >= slices_) return false;
    auto count = static_cast<std::int64_t>(items_.size());
    std::int64_t each = count / slices_, with_extra = count % slices_;
    std::int64_t first = at_ * each + std::min(at_, with_extra);
    std::int64_t size = each + (at_ < with_extra ? 1 : 0);
    std::vector<Value> part(items_.begin() + first, items_.begin() + first + size);
    if (fill_ && at_ >= with_extra) part.push_back(*fill_);
    ++at_;
    out = machine.list(std::move(part));
    return true;
  }

  std::vector<Value> items_;
  std::int64_t slices_ = 1, at_ = 0;
  std::optional<Value> fill_;
};

class ItemsFilter final : public LazyFilter {
  using LazyFilter::LazyFilter;

  bool start(Machine& machine) override {
    if (value_.is(ValueKind::undefined)) return false;
    if (!value_.is(ValueKind::map)) machine.fail("the filter 'items' needs a dict, not {}", type_name(value_));
    source_ = ViewObject(value_, ViewKind::items).iterate(machine);
    return true;
  }
  bool step(Machine& machine, Value& out) override { return source_->next(machine, out); }
};

Value items_filter(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "items");
  return generator<ItemsFilter>(machine, value, args);
}

// Arguments are bound when the filter is called, before the first item is asked for.
template <class Source> Value checked_generator(Machine& machine, const Value& value, Args& args) {
  if (std::is_same_v<Source, UniqueFilter>) take(machine, args, "unique", {"case_sensitive", "attribute"});
  if (std::is_same_v<Source, BatchFilter>) take(machine, args, "batch", {"linecount", "fill_with"}, 1);
  if (std::is_same_v<Source, SliceFilter>) take(machine, args, "slice", {"slices", "fill_with"}, 1);
  return generator<Source>(machine, value, args);
}

Value reverse(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "reverse");
  if (value.is(ValueKind::string)) return get_slice(machine, value, Value::none(), Value::none(), Value::integer(-1));
  if (auto iterator = reversed(machine, value))
    return make_generator("list_reverseiterator", std::move(iterator), value.depth());
  std::vector<Value> items = to_items(machine, value);
  std::reverse(items.begin(), items.end());
  return machine.list(std::move(items));
}

constexpr NamedFilter filters[] = {
    {"map", generator<MapFilter>},
    {"select", generator<SelectFilter<Choose::passing, false>>},
    {"reject", generator<SelectFilter<Choose::failing, false>>},
    {"selectattr", generator<SelectFilter<Choose::passing, true>>},
    {"rejectattr", generator<SelectFilter<Choose::failing, true>>},
    {"unique", checked_generator<UniqueFilter>},
    {"batch", checked_generator<BatchFilter>},
    {"slice", checked_generator<SliceFilter>},
    {"items", items_filter},
    {"reverse", reverse},
};

}  // namespace

std::span<const NamedFilter> lazy_filters() { return filters; }

}  // namespace ridge::text::jinja
