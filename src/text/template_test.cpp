// Bounds, errors with their line, and the choice among a model's templates. Rendered text:
// io/template_goldens_test.cpp.
#include "text/template.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/chat.h"

namespace ridge::text {
namespace {

std::string render(std::string_view source, const Limits& limits = {}, ValueMap context = {}) {
  return Template(source, limits).render(Value::map(std::move(context)), std::tm{});
}

std::string error_of(std::string_view source, const Limits& limits = {}) {
  try {
    return "no error: " + render(source, limits);
  } catch (const Error& error) {
    return error.fault() == Fault::input ? error.what() : "wrong fault";
  }
}

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(TemplateErrors, name_the_line) {
  EXPECT_EQ(error_of("a\n\n{{ x.y }}"), "chat template, line 3: 'x' is undefined");
  EXPECT_EQ(error_of("\n{% if %}"), "chat template, line 2: expected an expression, got '%}'");
  EXPECT_EQ(error_of("\r\n\r\n{% include 'f' %}"), "chat template, line 3: the tag 'include' is not supported");
  EXPECT_EQ(error_of("{{ raise_exception('Roles must alternate') }}"), "chat template, line 1: Roles must alternate");
  EXPECT_EQ(error_of("{{ {}.a.b }}"), "chat template, line 1: 'dict object' has no attribute 'a'");
  EXPECT_EQ(error_of("\n{% macro m(a) %}\n{{ a.b }}{% endmacro %}{{ m() }}"),
            "chat template, line 3: parameter 'a' was not provided");
}

TEST(TemplateErrors, invalid_utf8_is_refused_in_the_source_and_kept_in_values) {
  EXPECT_TRUE(has(error_of("ab\xff"), "byte 2"));
  ValueMap context;
  context.set("x", Value::string("a\xff\xf0\x9f\x99z"));
  EXPECT_EQ(render("{{ x }} {{ x|length }} {{ x[1:2] }} {{ x|upper }}", {}, context),
            "a\xff\xf0\x9f\x99z 6 \xff A\xff\xf0\x9f\x99Z");
}

TEST(TemplateLimits, source) {
  Limits limits;
  limits.source_bytes = 10;
  EXPECT_TRUE(has(error_of("12345678901", limits), "at most 10"));
}

TEST(TemplateLimits, steps_bound_loops_and_recursion) {
  Limits limits;
  limits.steps = 10'000;
  EXPECT_TRUE(has(error_of("{% for i in range(100000) %}{% endfor %}", limits), "more than 10000 steps"));
  EXPECT_TRUE(
      has(error_of("{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}", limits), "steps"));
  EXPECT_TRUE(has(error_of("{{ range(100000)|map('string')|list|length }}", limits), "steps"));
  EXPECT_TRUE(has(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}"), "nested deeper"));
}

TEST(TemplateLimits, bytes_bound_text_and_lists) {
  EXPECT_TRUE(has(error_of("{{ 'a' * 10000000000 }}"), "bytes"));
  EXPECT_TRUE(has(error_of("{{ [1] * 10000000000 }}"), "bytes"));
  EXPECT_TRUE(has(error_of("{{ 'a'|center(100000000000) }}"), "bytes"));
  EXPECT_TRUE(has(error_of("{{ '{:999999999999}'.format(1) }}"), "too large"));
  EXPECT_TRUE(has(error_of("{{ '%999999999999d' % 1 }}"), "too large"));
  Limits limits;
  limits.bytes = 1'000'000;
  EXPECT_TRUE(
      has(error_of("{% set ns = namespace(s='ab') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                   limits),
          "bytes"));
  EXPECT_TRUE(has(error_of("{{ ('a' * 100000)|replace('a', 'b' * 1000)|length }}", limits), "bytes"));
  EXPECT_TRUE(has(error_of("{{ range(100000)|batch(1)|list|length }}", limits), "bytes"));
  limits = {};
  limits.output_bytes = 1000;
  EXPECT_TRUE(has(error_of("{% for i in range(100) %}0123456789.{% endfor %}", limits), "longer than 1000"));
}

TEST(TemplateLimits, depth_of_syntax) {
  EXPECT_TRUE(has(error_of("{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ " + repeated("-", 5000) + "1 }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ " + repeated("not ", 5000) + "1 }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ 1" + repeated(" + 1", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ 1" + repeated(" if 1 else 1", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ x" + repeated(".x", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of("{{ x" + repeated("|string", 5000) + " }}"), "nested deeper"));
  EXPECT_TRUE(has(error_of(repeated("{% if 1 %}", 5000)), "nested deeper"));
  EXPECT_TRUE(has(error_of("{% set " + repeated("(", 5000) + "x"), "nested deeper"));
  EXPECT_EQ(render("{{ 1" + repeated(" + 1", 150) + " }}"), "151");
  EXPECT_EQ(render("{{ " + repeated("(", 60) + "1" + repeated(")", 60) + " }}"), "1");
}

TEST(TemplateLimits, depth_of_values) {
  EXPECT_TRUE(
      has(error_of("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}"),
          "nested deeper"));
  EXPECT_TRUE(has(
      error_of(
          "{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = ns.x|map('string') %}{% endfor %}"),
      "nested deeper"));
  EXPECT_TRUE(has(error_of("{% set ns = namespace() %}{% set ns.ns = ns %}{{ ns }}"), "nests too deep"));
}

TEST(Template, cycles_of_namespaces_are_freed) {  // the leak checker of the sanitizer build watches
  EXPECT_EQ(
      render("{% set ns = namespace() %}{% set ns.self = ns %}{% macro m() %}{{ ns.self is defined }}{% endmacro %}"
             "{% set ns.m = m %}{% for x in [1] %}{% set ns.loop = loop %}{{ loop.changed(loop) }}{% endfor %}{{ "
             "ns.m() }}"),
      "TrueTrue");
}

TEST(Template, long_chains_of_namespaces_are_freed_without_recursion) {
  EXPECT_EQ(
      render("{% set ns = namespace(head=none) %}{% for i in range(50000) %}{% set ns.head = namespace(next=ns.head) %}"
             "{% endfor %}{{ ns.head.next is defined }}"),
      "True");
}

ChatTemplateSource two_templates() {
  ChatTemplateSource source;
  source.templates = {{"default", "{{ bos_token }}D{{ messages|length }}{{ tools }}"},
                      {"tool_use", "T{{ tools|length }}"}};
  source.special_tokens = {{"bos_token", "<s>"}};
  return source;
}

TEST(Chat, chooses_as_transformers_does) {
  ChatTemplates templates(two_templates());
  ChatRequest request;
  request.messages = to_value({{"user", "a"}});
  EXPECT_EQ(templates.render(request), "<s>D1None");
  request.tools = Value::list({Value::map({})});
  EXPECT_EQ(templates.render(request), "T1");
  EXPECT_EQ(templates.chosen_name(request), "tool_use");
  request.template_name = "default";
  EXPECT_EQ(templates.render(request), "<s>D1[{}]");
  request.template_name = "rag";
  EXPECT_THROW(templates.render(request), Error);
}

TEST(Chat, without_a_template_or_a_default_it_says_so) {
  EXPECT_THROW(ChatTemplates(ChatTemplateSource{}), Error);
  ChatTemplateSource source = two_templates();
  source.templates[0].name = "rag";
  ChatRequest request;
  request.messages = to_value({});
  EXPECT_THROW(ChatTemplates(source).render(request), Error);
}

TEST(Chat, extra_variables_win_over_special_tokens) {
  ChatTemplates templates(two_templates());
  ChatRequest request;
  request.messages = to_value({});
  request.extra.set("bos_token", Value::string("X"));
  EXPECT_EQ(templates.render(request), "XD0None");
}

TEST(Chat, messages_of_apis_are_normalized) {
  ValueMap message;
  message.set("role", Value::string("assistant"));
  message.set("content", Value::none());
  message.set("reasoning", Value::string("r"));
  ValueMap context;
  context.set("m", normalize_messages(Value::list({Value::map(message)})));
  EXPECT_EQ(render("{{ m }}", {}, context),
            "[{'thinking': 'r', 'role': 'assistant', 'reasoning': 'r', 'reasoning_content': 'r'}]");
}

}  // namespace
}  // namespace ridge::text
