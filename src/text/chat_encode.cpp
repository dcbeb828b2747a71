#include "text/chat_encode.h"

#include <algorithm>
#include <array>

namespace ridge::text {
namespace {

// Put inside a control string of a message, it keeps the string from being found; taken out again before encoding.
// A noncharacter (U+FDD0): never part of interchanged text, so taking it out takes nothing from the user.
constexpr std::string_view guard = "\xEF\xB7\x90";

struct ControlStrings {
  std::vector<std::string> list;        // the longest first
  std::array<bool, 256> first_bytes{};  // of any of them: most of a text is passed over by this alone
};

ControlStrings control_strings(const Tokenizer& tokenizer) {
  ControlStrings controls;
  std::vector<std::string>& list = controls.list;
  for (TokenId id = 0; id < TokenId(tokenizer.size()); ++id)
    if (tokenizer.has(id) && tokenizer.is_special(id)) list.push_back(tokenizer.token_spelling(id));
  std::erase_if(list, [](const std::string& s) { return s.empty(); });
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });  // longest first
  for (const std::string& c : list) controls.first_bytes[static_cast<unsigned char>(c[0])] = true;
  return controls;
}

// The control string that starts at `at`, the longest; empty: none.
std::string_view starts_control(std::string_view text, std::size_t at, const ControlStrings& controls) {
  if (!controls.first_bytes[static_cast<unsigned char>(text[at])]) return {};
  for (const std::string& c : controls.list)
    if (text.compare(at, c.size(), c) == 0) return c;
  return {};
}

// `text` with the guard behind the first byte of the character that starts each control string. Counts them.
std::string guarded(std::string_view text, const ControlStrings& controls, std::size_t& count) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool control = !starts_control(text, i, controls).empty();
    std::size_t length = 1;
    while (i + length < text.size() && (text[i + length] & 0xc0) == 0x80) ++length;
    out += text.substr(i, length);
    if (control) out += guard, ++count;
    i += length;
  }
  return out;
}

Value guard_strings(const Value& v, const ControlStrings& controls, std::size_t& count) {
  switch (v.kind()) {
    case ValueKind::string: return Value::string(guarded(v.as_string(), controls, count));
    case ValueKind::list: {
      std::vector<Value> items;
      for (const Value& item : v.items()) items.push_back(guard_strings(item, controls, count));
      return Value::list(std::move(items));
    }
    case ValueKind::map: {
      ValueMap map;
      for (const auto& [key, value] : v.entries().entries()) map.set(key, guard_strings(value, controls, count));
      return Value::map(std::move(map));
    }
    default: return v;
  }
}

std::string without_guards(std::string text) {
  for (std::size_t at = text.find(guard); at != std::string::npos; at = text.find(guard, at))
    text.erase(at, guard.size());
  return text;
}

// The rendered text cut at its control tokens; what lies between is the template's and the messages' text.
std::vector<TokenId> encode_between(const Tokenizer& tokenizer, std::string_view rendered,
                                    const ControlStrings& controls) {
  std::vector<TokenId> ids;
  std::size_t begin = 0;
  auto flush = [&](std::size_t end) {
    const std::vector<TokenId> part =
        tokenizer.encode(without_guards(std::string(rendered.substr(begin, end - begin))));
    ids.insert(ids.end(), part.begin(), part.end());
  };
  for (std::size_t i = 0; i < rendered.size();) {
    const std::string_view control = starts_control(rendered, i, controls);
    if (control.empty()) {
      ++i;
      continue;
    }
    flush(i);
    ids.push_back(*tokenizer.find(control));
    i = begin = i + control.size();
  }
  flush(rendered.size());
  return ids;
}

}  // namespace

EncodedChat encode_chat(const Tokenizer& tokenizer, const ChatTemplates& templates, ChatRequest request,
                        Control messages) {
  if (messages == Control::text) {
    const ControlStrings controls = control_strings(tokenizer);
    std::size_t found = 0;
    const Value guarded_messages = guard_strings(request.messages, controls, found);
    if (found > 0) {  // rare: somebody wrote a control string
      request.messages = guarded_messages;
      const std::string rendered = templates.render(request);
      return {without_guards(rendered), encode_between(tokenizer, rendered, controls)};
    }
  }
  EncodedChat chat{templates.render(request), {}};
  chat.ids = tokenizer.encode(chat.text, {.control = Control::token});
  return chat;
}

std::string_view named_template(std::string_view name) {
  if (name == "chatml")
    return "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + "
           "'<|im_end|>' + '\\n' }}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
  return {};
}

}  // namespace ridge::text
