// The functions that every template can call.
#include <ctime>

#include "text/jinja_arguments.h"
#include "text/jinja_builtins.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {
namespace {

Value call_range(Machine& machine, Args& args) {
  auto taken = take(machine, args, "range", {"start", "stop", "step"}, 1);
  if (!args.named.empty()) machine.fail("'range' takes no named arguments");
  std::int64_t first = integer_argument(machine, taken[0], 0, "an argument of 'range'");
  if (!taken[1]) return make_range(machine, 0, first, 1);
  return make_range(machine, first, integer_argument(machine, taken[1], 0, "an argument of 'range'"),
                    integer_argument(machine, taken[2], 1, "an argument of 'range'"));
}

// dict(mapping or pairs, **kwargs)
ValueMap make_map(Machine& machine, Args& args, std::string_view function) {
  if (args.positional.size() > 1) machine.fail("'{}' takes at most one positional argument", function);
  ValueMap map;
  auto set = [&](const Value& key, const Value& value) {
    machine.step();
    if (!map.set(key, value)) machine.fail("a {} cannot be a key", type_name(key));
  };
  if (!args.positional.empty()) {
    const Value& from = args.positional[0];
    if (from.is(ValueKind::undefined)) fail_undefined(machine, from);
    if (from.is(ValueKind::map)) {
      for (const auto& [key, value] : from.entries().entries()) set(key, value);
    } else {
      for (const Value& pair : to_items(machine, from)) {
        std::vector<Value> both = to_items(machine, pair);
        if (both.size() != 2) machine.fail("'{}' needs pairs of key and value", function);
        set(both[0], both[1]);
      }
    }
  }
  for (const auto& [name, value] : args.named) set(Value::string(name), value);
  return map;
}

Value call_dict(Machine& machine, Args& args) { return machine.map(make_map(machine, args, "dict")); }

Value dict_fromkeys(Machine& machine, Args& args) {
  if (args.positional.empty() || args.positional.size() > 2 || !args.named.empty())
    machine.fail("'dict.fromkeys' takes keys and a value");
  ValueMap map;
  for (const Value& key : to_items(machine, args.positional[0]))
    if (!map.set(key, args.positional.size() > 1 ? args.positional[1] : Value::none()))
      machine.fail("a {} cannot be a key", type_name(key));
  return machine.map(std::move(map));
}

Value call_namespace(Machine& machine, Args& args) {
  ValueMap map = make_map(machine, args, "namespace");
  for (const auto& [key, value] : map.entries())
    if (key.is(ValueKind::string) && key.as_string().starts_with('_'))
      machine.fail("a namespace cannot have the attribute '{}': it starts with '_'", key.as_string());
  machine.charge(500 + map.size() * 200);
  auto space = std::make_shared<NamespaceObject>();
  space->depth = 1;
  space->attributes = std::move(map);
  machine.kept.push_back(space);
  return Value::object(std::move(space));
}

Value raise_exception(Machine& machine, Args& args) {
  auto taken = take(machine, args, "raise_exception", {"message"}, 1);
  machine.fail("{}", to_str(machine, *taken[0]));
}

Value strftime_now(Machine& machine, Args& args) {
  const std::string& format =
      text_argument(machine, take(machine, args, "strftime_now", {"format"}, 1)[0], "a time format");
  // A local time without a zone: %z and %Z are empty, as for Python's datetime.now(); seconds are whole.
  std::string prepared;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == 0) machine.fail("a time format with a zero byte is not supported");
    if (format[i] != '%' || i + 1 == format.size()) {
      prepared += format[i];
      continue;
    }
    char c = format[++i];
    if (c == 'f') prepared += "000000";
    else if (c != 'z' && c != 'Z') prepared += {'%', c};
  }
  if (prepared.empty()) return machine.string("");
  if (prepared.size() > 4096) machine.fail("a time format of more than 4096 bytes is not accepted");
  std::string out(prepared.size() * 40 + 64, '\0');
  prepared += '.';  // so that an empty result can be told from none
  std::size_t used = std::strftime(out.data(), out.size(), prepared.c_str(), &machine.now);
  if (used == 0) machine.fail("the time format '{}' is not accepted", format);
  out.resize(used - 1);
  return machine.string(std::move(out));
}

// cycler(*items)
struct Cycler : Object {
  std::vector<Value> items;
  std::size_t position = 0;

  std::string_view type_name() const override { return "cycler"; }
  bool attribute(Machine&, const std::string& name, Value& out) override;
  std::weak_ptr<Cycler> self;
};

bool Cycler::attribute(Machine&, const std::string& name, Value& out) {
  auto no_arguments = [](Machine& machine, const Args& args) {
    if (!args.positional.empty() || !args.named.empty()) machine.fail("methods of a cycler take no arguments");
  };
  static const auto check = no_arguments;
  if (name == "current") out = items[position];
  else if (name == "next")
    out = make_object<ObjectMethod>(depth, self.lock(), [](Machine& machine, Object& object, Args& args) {
      check(machine, args);
      auto& cycler = static_cast<Cycler&>(object);
      Value value = cycler.items[cycler.position];
      cycler.position = (cycler.position + 1) % cycler.items.size();
      return value;
    });
  else if (name == "reset")
    out = make_object<ObjectMethod>(depth, self.lock(), [](Machine& machine, Object& object, Args& args) {
      check(machine, args);
      static_cast<Cycler&>(object).position = 0;
      return Value::none();
    });
  else return false;
  return true;
}

Value call_cycler(Machine& machine, Args& args) {
  if (!args.named.empty() || args.positional.empty()) machine.fail("'cycler' needs the values to go through");
  auto cycler = std::make_shared<Cycler>();
  int inner = 0;
  for (const Value& item : args.positional) inner = std::max(inner, item.depth());
  if (inner + 2 >= max_value_depth) machine.fail("values nested deeper than {} are not accepted", max_value_depth);
  cycler->depth = inner + 1;
  cycler->items = args.positional;
  cycler->self = cycler;
  machine.charge(200 + args.positional.size() * sizeof(Value));
  return Value::object(std::move(cycler));
}

// joiner(sep): empty at the first call, the separator from then on
struct Joiner : Object {
  Value separator;
  bool used = false;

  std::string_view type_name() const override { return "joiner"; }
  bool is_callable() override { return true; }
  Value call(Machine& machine, Args& args) override {
    if (!args.positional.empty() || !args.named.empty()) machine.fail("a joiner takes no arguments");
    return std::exchange(used, true) ? separator : machine.string("");
  }
};

Value call_joiner(Machine& machine, Args& args) {
  auto taken = take(machine, args, "joiner", {"sep"});
  Value value = make_object<Joiner>(taken[0] ? taken[0]->depth() : 0);
  object_as<Joiner>(value)->separator = taken[0] ? *taken[0] : Value::string(", ");
  return value;
}

Value call_lipsum(Machine& machine, Args&) {
  machine.fail("the function 'lipsum' is not supported (it gives random text)");
}

ValueMap make_globals() {
  ValueMap map;
  auto add = [&](std::string_view name, FunctionObject::Function function) {
    map.set(name, make_object<FunctionObject>(0, name, function));
  };
  add("range", call_range);
  add("dict", call_dict);
  add("namespace", call_namespace);
  add("cycler", call_cycler);
  add("joiner", call_joiner);
  add("lipsum", call_lipsum);
  add("raise_exception", raise_exception);
  add("strftime_now", strftime_now);
  return map;
}

}  // namespace

bool FunctionObject::attribute(Machine&, const std::string& attribute, Value& out) {
  if (name != "dict" || attribute != "fromkeys") return false;
  out = make_object<FunctionObject>(1, "fromkeys", dict_fromkeys);
  return true;
}

const ValueMap& global_values() {
  static const ValueMap map = make_globals();
  return map;
}

}  // namespace ridge::text::jinja
