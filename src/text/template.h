// A chat template: Jinja as Jinja2 3.1 renders it in the environment that Hugging Face transformers uses (immutable
// sandbox, trim_blocks, lstrip_blocks, break/continue, generation blocks, tojson, raise_exception, strftime_now).
// The output is the same, byte for byte. What is not supported is an error that names it and its line.
#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "text/template_value.h"

namespace ridge::text {

// Bounds on what one template may cost; passing one is an error. The defaults render any real template on megabytes
// of conversation.
struct Limits {
  std::size_t source_bytes = 1 << 20;
  std::uint64_t steps = 20'000'000;     // nodes evaluated, items looked at
  std::uint64_t bytes = 1'000'000'000;  // of all text and containers made on the way, freed ones included
  std::size_t output_bytes = 256'000'000;
  int depth = 600;  // of expressions, blocks and macro calls inside each other
};

namespace jinja {
struct Tree;
}

class Template {
 public:
  // Parses. Fails (as the user's input, naming the line) on what Jinja2 refuses and on what is not supported.
  explicit Template(std::string_view source, const Limits& limits = {});

  // `context` is a map of the template's variables; `now` is the local time that strftime_now shows.
  // Fails (as the user's input, naming the line) where Jinja2 raises, with the message of raise_exception if the
  // template called it, and where a limit is passed. Safe to call from several threads.
  std::string render(const Value& context, const std::tm& now) const;

 private:
  Limits limits_;
  std::shared_ptr<const jinja::Tree> tree_;
};

// The local time, for `now` above.
std::tm local_time(std::time_t seconds);

}  // namespace ridge::text
