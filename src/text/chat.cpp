#include "text/chat.h"

#include <string_view>

#include "base/error.h"

namespace ridge::text {

ChatTemplates::ChatTemplates(ChatTemplateSource source, const Limits& limits) : source_(std::move(source)) {
  if (source_.templates.empty()) fail_input("the model has no chat template");
  for (const auto& named : source_.templates) {
    try {
      parsed_.emplace_back(named.source, limits);
    } catch (const Error& error) {
      if (source_.templates.size() == 1 || error.fault() != Fault::input) throw;
      fail_input("template '{}': {}", named.name, error.what());
    }
  }
}

std::size_t ChatTemplates::choose(const ChatRequest& request) const {
  auto find = [&](std::string_view name) {
    std::size_t i = 0;
    while (i < source_.templates.size() && source_.templates[i].name != name) ++i;
    return i;
  };
  std::size_t none = source_.templates.size();
  std::string names;
  for (const auto& named : source_.templates) names += (names.empty() ? "" : ", ") + named.name;
  if (!request.template_name.empty()) {
    std::size_t wanted = find(request.template_name);
    if (wanted == none) fail_input("the model has no chat template '{}'; it has: {}", request.template_name, names);
    return wanted;
  }
  if (source_.templates.size() == 1) return 0;
  bool tools = !request.tools.is(ValueKind::none) && !request.tools.is(ValueKind::undefined);
  if (tools && find("tool_use") != none) return find("tool_use");
  if (find("default") != none) return find("default");
  fail_input("the model has several chat templates and none is the default; name one of: {}", names);
}

const std::string& ChatTemplates::chosen_name(const ChatRequest& request) const {
  return source_.templates[choose(request)].name;
}

std::string ChatTemplates::render(const ChatRequest& request) const {
  if (!request.messages.is(ValueKind::list)) fail_input("messages must be a list");
  ValueMap context;
  for (const auto& [name, text] : source_.special_tokens) context.set(name, Value::string(text));
  context.set("messages", request.messages);
  context.set("tools", request.tools);
  context.set("documents", request.documents);
  context.set("add_generation_prompt", Value::boolean(request.add_generation_prompt));
  for (const auto& [name, value] : request.extra.entries()) context.set(name, value);
  return parsed_[choose(request)].render(Value::map(std::move(context)), request.now);
}

Value to_value(const std::vector<Message>& messages) {
  std::vector<Value> items;
  for (const Message& message : messages) {
    ValueMap map;
    map.set("role", Value::string(message.role));
    map.set("content", Value::string(message.content));
    items.push_back(Value::map(std::move(map)));
  }
  return Value::list(std::move(items));
}

namespace {

Value normalize_message(const Value& message) {
  if (!message.is(ValueKind::map)) fail_input("a message must be an object with a role");
  const ValueMap& given = message.entries();
  const Value* reasoning = nullptr;
  for (std::string_view name : {"reasoning_content", "thinking", "reasoning"}) {
    const Value* found = given.find(name);
    if (!reasoning && found && !found->is(ValueKind::none)) reasoning = found;
  }
  ValueMap map;
  if (reasoning) map.set("thinking", *reasoning);
  for (const auto& [key, value] : given.entries())
    if (!value.is(ValueKind::none)) map.set(key, value);
  if (reasoning) map.set("reasoning_content", *reasoning);
  return Value::map(std::move(map));
}

}  // namespace

Value normalize_messages(const Value& messages) {
  if (!messages.is(ValueKind::list)) fail_input("messages must be a list");
  std::vector<Value> items;
  for (const Value& message : messages.items()) items.push_back(normalize_message(message));
  return Value::list(std::move(items));
}

}  // namespace ridge::text
