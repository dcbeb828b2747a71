// Filters that look at or order the items of a value.
#include <algorithm>

#include "text/jinja_filters.h"
#include "text/jinja_objects.h"

namespace ridge::text::jinja {
namespace {

Value length_filter(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "length");
  return Value::integer(length(machine, value));
}

Value list(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "list");
  return machine.list(to_items(machine, value));
}

Value first(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "first");
  Value item;
  return iterate(machine, value)->next(machine, item) ? item : Value::undefined("No first item, sequence was empty.");
}

Value last(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "last");
  auto iterator = reversed(machine, value);
  if (!iterator) machine.fail("the filter 'last' does not work for a value of type {}", type_name(value));
  Value item;
  return iterator->next(machine, item) ? item : Value::undefined("No last item, sequence was empty.");
}

Value default_filter(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "default", {"default_value", "boolean"});
  bool wanting =
      value.is(ValueKind::undefined) || (truth_argument(machine, taken[1], false) && !is_truthy(machine, value));
  if (!wanting) return value;
  return taken[0] ? *taken[0] : machine.string("");
}

Value attr(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "attr", {"name"}, 1);
  const std::string& name = text_argument(machine, taken[0], "the name of an attribute");
  Value out;
  if (python_attribute(machine, value, name, out)) return out;
  return Value::undefined(fmt::format("'{} object' has no attribute '{}'", type_name(value), name));
}

struct Keyed {
  Value key, item;
};

// As Python's sorted: stable, also when reversed.
void sort_keyed(Machine& machine, std::vector<Keyed>& all, const Value* reverse) {
  std::int64_t flag = integer_argument(machine, reverse, 0, "'reverse'");
  if (flag != static_cast<int>(flag)) machine.fail("'reverse' must be a small integer or a boolean");
  bool backwards = flag != 0;
  if (backwards) std::reverse(all.begin(), all.end());
  std::stable_sort(all.begin(), all.end(),
                   [&](const Keyed& a, const Keyed& b) { return is_less(machine, a.key, b.key); });
  if (backwards) std::reverse(all.begin(), all.end());
}

// `attribute` may be several, separated by commas; the key is then the list of them.
std::vector<AttributePath> sort_paths(Machine& machine, const Value* attribute) {
  std::vector<AttributePath> paths;
  if (!attribute || !attribute->is(ValueKind::string)) {
    paths.emplace_back(machine, attribute);
    return paths;
  }
  std::string_view rest = attribute->as_string();
  for (;;) {
    std::size_t comma = rest.find(',');
    Value one = machine.string(std::string(rest.substr(0, comma)));
    paths.emplace_back(machine, &one);
    if (comma == std::string_view::npos) return paths;
    rest = rest.substr(comma + 1);
  }
}

Value sort(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "sort", {"reverse", "case_sensitive", "attribute"});
  bool exact = truth_argument(machine, taken[1], false);
  std::vector<AttributePath> paths = sort_paths(machine, taken[2]);
  std::vector<Keyed> all;
  for (const Value& item : to_items(machine, value)) {
    std::vector<Value> keys;
    for (const AttributePath& path : paths) {
      Value key = path.of(machine, item);
      keys.push_back(exact ? key : fold_case(machine, key));
    }
    all.push_back({machine.list(std::move(keys)), item});
  }
  sort_keyed(machine, all, taken[0]);
  std::vector<Value> items;
  for (Keyed& one : all) items.push_back(std::move(one.item));
  return machine.list(std::move(items));
}

Value dictsort(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "dictsort", {"case_sensitive", "by", "reverse"});
  bool exact = truth_argument(machine, taken[0], false);
  bool by_key = !taken[1] || equals(machine, *taken[1], Value::string("key"));
  if (!by_key && !equals(machine, *taken[1], Value::string("value")))
    machine.fail("the filter 'dictsort' sorts by 'key' or 'value'");
  if (value.is(ValueKind::undefined)) fail_undefined(machine, value);
  if (!value.is(ValueKind::map)) machine.fail("the filter 'dictsort' needs a dict, not {}", type_name(value));
  std::vector<Keyed> all;
  for (const auto& [key, item] : value.entries().entries()) {
    const Value& by = by_key ? key : item;
    all.push_back({exact ? by : fold_case(machine, by), machine.tuple({key, item})});
  }
  sort_keyed(machine, all, taken[2]);
  std::vector<Value> items;
  for (Keyed& one : all) items.push_back(std::move(one.item));
  return machine.list(std::move(items));
}

template <bool want_largest> Value extreme(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, want_largest ? "max" : "min", {"case_sensitive", "attribute"});
  bool exact = truth_argument(machine, taken[0], false);
  AttributePath path(machine, taken[1]);
  auto iterator = iterate(machine, value);
  Value item, best, best_key;
  if (!iterator->next(machine, item)) return Value::undefined("No aggregated item, sequence was empty.");
  auto key_of = [&](const Value& one) {
    Value key = path.of(machine, one);
    return exact ? key : fold_case(machine, key);
  };
  best = item;
  best_key = key_of(item);
  while (iterator->next(machine, item)) {
    Value key = key_of(item);
    if (want_largest ? is_less(machine, best_key, key) : is_less(machine, key, best_key)) {
      best = item;
      best_key = key;
    }
  }
  return best;
}

Value sum(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "sum", {"attribute", "start"});
  AttributePath path(machine, taken[0]);
  Value total = taken[1] ? *taken[1] : Value::integer(0);
  if (total.is(ValueKind::string)) machine.fail("the filter 'sum' does not add strings; use 'join'");
  auto iterator = iterate(machine, value);
  for (Value item; iterator->next(machine, item);) total = arithmetic(machine, Op::add, total, path.of(machine, item));
  return total;
}

// One group: a tuple with names for its two parts.
struct GroupObject : Object {
  Value grouper, items;

  std::string_view type_name() const override { return "tuple"; }
  std::int64_t length(Machine&) override { return 2; }
  std::shared_ptr<Iterator> iterate(Machine&) override { return iterate_items({grouper, items}); }
  std::shared_ptr<Iterator> reversed(Machine&) override { return iterate_items({items, grouper}); }
  bool is_sequence() override { return true; }
  bool attribute(Machine&, const std::string& name, Value& out) override {
    if (name == "grouper") out = grouper;
    else if (name == "list") out = items;
    else return false;
    return true;
  }
  bool item(Machine& machine, const Value& key, Value& out) override {
    out = get_item(machine, Value::tuple({grouper, items}), key);
    return !out.is(ValueKind::undefined);
  }
  std::string represent(Machine& machine, int level) override {
    return "(" + to_repr(machine, grouper, level + 1) + ", " + to_repr(machine, items, level + 1) + ")";
  }
};

Value groupby(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "groupby", {"attribute", "default", "case_sensitive"}, 1);
  bool exact = truth_argument(machine, taken[2], false);
  AttributePath path(machine, taken[0], taken[1]);
  std::vector<Keyed> all;
  for (const Value& item : to_items(machine, value)) {
    Value key = path.of(machine, item);
    all.push_back({exact ? key : fold_case(machine, key), item});
  }
  sort_keyed(machine, all, nullptr);
  std::vector<Value> groups;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    std::vector<Value> members;
    while (end < all.size() && equals(machine, all[begin].key, all[end].key)) members.push_back(all[end++].item);
    Value grouper = exact ? all[begin].key : path.of(machine, members[0]);
    Value items = machine.list(std::move(members));
    Value group = make_object<GroupObject>(std::max(grouper.depth(), items.depth()));
    object_as<GroupObject>(group)->grouper = grouper;
    object_as<GroupObject>(group)->items = items;
    groups.push_back(group);
    begin = end;
  }
  return machine.list(std::move(groups));
}

constexpr NamedFilter filters[] = {
    {"length", length_filter},   {"count", length_filter}, {"list", list}, {"first", first},     {"last", last},
    {"default", default_filter}, {"d", default_filter},    {"attr", attr}, {"sort", sort},       {"dictsort", dictsort},
    {"min", extreme<false>},     {"max", extreme<true>},   {"sum", sum},   {"groupby", groupby},
};

}  // namespace

std::span<const NamedFilter> item_filters() { return filters; }

}  // namespace ridge::text::jinja
