// Rendered text against what Jinja2 3.1.6 renders in transformers' environment (tools/make_template_goldens.py).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "io/template_json.h"
#include "text/chat.h"
#include "text/template.h"

namespace ridge::io {
namespace {

using nlohmann::ordered_json;
using text::ChatRequest;
using text::ChatTemplates;
using text::ChatTemplateSource;
using text::Template;
using text::Value;
using text::ValueMap;

const std::string goldens = std::string(RIDGE_SOURCE_DIR) + "/tests/goldens/templates/";

std::string read_xz(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("xz -dc '" + path + "'").c_str(), "r"), pclose);
  std::string text;
  char buffer[65536];
  for (std::size_t got; (got = fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) text.append(buffer, got);
  return text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Value value_of(const ordered_json& json) { return template_value_from_json(json.dump(), "test"); }

ValueMap map_of(const ordered_json& json) {
  ValueMap map;
  for (const auto& [name, value] : json.items()) map.set(name, value_of(value));
  return map;
}

// 26 July 2024, 13:05:09, a Friday.
std::tm fixed_time() {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mon = 6;
  now.tm_mday = 26;
  now.tm_hour = 13;
  now.tm_min = 5;
  now.tm_sec = 9;
  now.tm_wday = 5;
  now.tm_yday = 207;
  return now;
}

class ChatGoldens : public testing::TestWithParam<const char*> {};

TEST_P(ChatGoldens, rendered_text_is_identical) {
  auto golden = ordered_json::parse(read_xz(goldens + GetParam() + ".json.xz"));
  ChatTemplateSource source;
  source.templates.push_back({"default", golden["chat_template"]});
  for (const char* token : {"bos_token", "eos_token"})
    if (golden[token].is_string()) source.special_tokens.emplace_back(token, golden[token]);
  ChatTemplates templates(source);
  ASSERT_GT(golden["cases"].size(), 20u);
  for (const auto& test : golden["cases"]) {
    ChatRequest request;
    request.messages = value_of(test["messages"]);
    request.tools = value_of(test["tools"]);
    request.add_generation_prompt = test["add_generation_prompt"];
    request.extra = map_of(test["extra"]);
    request.now = fixed_time();
    EXPECT_EQ(templates.render(request), test["text"].get<std::string>()) << test.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Templates, ChatGoldens, testing::Values("llama3_2", "qwen3", "smollm2_135m_instruct_q4_1"));

// Each snippet renders to Jinja2's text, or fails where Jinja2 raises. "unsupported" marks what is refused by name
// although Jinja2 renders it; those must fail with that word in the message.
void check_snippets(const std::string& name) {
  auto file = ordered_json::parse(read_text(goldens + name + ".json"));
  Value shared = value_of(file["context"]);
  int rendered = 0, raised = 0;
  for (const auto& test : file["cases"]) {
    ValueMap context = test.contains("context") ? map_of(test["context"]) : shared.entries();
    std::string source = test["source"], shown, error;
    try {
      shown = Template(source).render(Value::map(std::move(context)), fixed_time());
    } catch (const Error& failure) {
      error = failure.what();
      ASSERT_EQ(failure.fault(), Fault::input) << source << "\n" << error;
    }
    if (test.contains("unsupported")) {
      EXPECT_NE(error.find(test["unsupported"].get<std::string>()), std::string::npos) << source << "\n"
                                                                                       << shown << error;
    } else if (test.contains("text")) {
      EXPECT_EQ(error, "") << source << "\nexpected: " << test["text"];
      if (error.empty()) {
        EXPECT_EQ(shown, test["text"].get<std::string>()) << source;
      }
      ++rendered;
    } else {
      EXPECT_NE(error, "") << source << "\nrendered: " << shown << "\nJinja2 raises: " << test["error"];
      if (test.contains("message")) {
        EXPECT_NE(error.find(test["message"].get<std::string>()), std::string::npos) << error;
      }
      ++raised;
    }
  }
  EXPECT_GT(rendered, 100);
  EXPECT_GT(raised, 20);
}

TEST(Template, snippets_render_as_jinja2_does) { check_snippets("snippets"); }

}  // namespace
}  // namespace ridge::io
