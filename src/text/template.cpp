#include "text/template.h"

#include <utf8proc.h>

#include "base/error.h"
#include "text/jinja_bind.h"
#include "text/jinja_evaluate.h"
#include "text/jinja_lexer.h"
#include "text/jinja_parser.h"

namespace ridge::text {
namespace {

void check_utf8(std::string_view source) {
  for (std::size_t at = 0; at < source.size();) {
    utf8proc_int32_t code = 0;
    auto left = static_cast<utf8proc_ssize_t>(source.size() - at);
    auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(source.data() + at), left, &code);
    if (used <= 0) fail_input("chat template: byte {} is not part of valid UTF-8", at);
    at += static_cast<std::size_t>(used);
  }
}

}  // namespace

Template::Template(std::string_view source, const Limits& limits) : limits_(limits) {
  if (source.size() > limits.source_bytes)
    fail_input("chat template: {} bytes; at most {} are accepted", source.size(), limits.source_bytes);
  check_utf8(source);
  auto tree = std::make_shared<jinja::Tree>(jinja::parse(jinja::tokenize(source)));
  jinja::bind(*tree);
  tree_ = std::move(tree);
}

std::string Template::render(const Value& context, const std::tm& now) const {
  if (!context.is(ValueKind::map)) fail_bug("chat template: the context is not a map");
  jinja::Machine machine;
  machine.limits = limits_;
  machine.now = now;
  return jinja::Evaluator(machine, context).run(*tree_);
}

std::tm local_time(std::time_t seconds) {
  std::tm broken_down{};
  localtime_r(&seconds, &broken_down);
  return broken_down;
}

}  // namespace ridge::text
