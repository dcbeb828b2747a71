// A model's chat templates, and conversations rendered with them as Hugging Face transformers does.
#pragma once
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/template.h"
#include "text/template_value.h"

namespace ridge::text {

// What a model's files say. A model may have several templates ("default", "tool_use", "rag").
struct ChatTemplateSource {
  struct Named {
    std::string name, source;
  };
  std::vector<Named> templates;
  // The texts of special tokens by the names that templates use: bos_token, eos_token, unk_token, pad_token ...
  std::vector<std::pair<std::string, std::string>> special_tokens;
};

struct Message {
  std::string role, content;
};

struct ChatRequest {
  Value messages;                      // a list of maps: role, content, tool_calls ... as the template wants them
  Value tools = Value::none();         // a list of JSON schemas, or none
  Value documents = Value::none();     // for retrieval, or none
  bool add_generation_prompt = false;  // end where the assistant's answer begins
  std::string template_name;           // empty: chosen as transformers does
  ValueMap extra;  // further variables of the template (enable_thinking ...); they win over special tokens
  std::tm now{};   // local time, for strftime_now
};

class ChatTemplates {
 public:
  // Parses all of the templates. Fails as the user's input if there is none, or on a template that is not accepted.
  explicit ChatTemplates(ChatTemplateSource source, const Limits& limits = {});

  // The text of the conversation. Fails as the user's input where the template raises, and on a name that is not there.
  std::string render(const ChatRequest& request) const;

  // The template that a request gets: the one it names; else "tool_use" if tools are given and it exists; else
  // "default"; or the only one.
  const std::string& chosen_name(const ChatRequest& request) const;

 private:
  std::size_t choose(const ChatRequest& request) const;

  ChatTemplateSource source_;
  std::vector<Template> parsed_;
};

Value to_value(const std::vector<Message>& messages);

// What transformers (5.2 and later) does to messages of APIs before it renders them: fields that are null go, and
// reasoning is found under "reasoning_content" and "thinking" whatever of its three names it has.
Value normalize_messages(const Value& messages);

}  // namespace ridge::text
