// A conversation as token ids: rendered by the model's template, then encoded so that the template's control tokens
// become tokens and control strings inside the messages stay text.
#pragma once
#include <string>
#include <vector>

#include "text/chat.h"
#include "text/tokenizer.h"

namespace ridge::text {

struct EncodedChat {
  std::string text;  // as rendered
  std::vector<TokenId> ids;
};

// Control::token lets control strings inside the messages become tokens, too. No beginning-of-sequence token is added:
// a template that wants one has it.
EncodedChat encode_chat(const Tokenizer& tokenizer, const ChatTemplates& templates, ChatRequest request,
                        Control messages = Control::text);

// Templates to use when asked for by name, for models without one: "chatml". Empty: no such name.
std::string_view named_template(std::string_view name);

}  // namespace ridge::text
