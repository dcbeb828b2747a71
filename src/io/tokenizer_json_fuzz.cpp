// tokenizer.json from a stranger, and a text through whatever tokenizer it makes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "io/tokenizer_json.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // What follows a zero byte is the text, else a fixed one.
  const std::size_t zero = input.find('\0');
  const std::string_view json = input.substr(0, zero);
  const std::string_view words =
      zero == std::string_view::npos ? "a b  ab\xC3\xA9 <s> 12 \xE2\x96\x81\xFF" : input.substr(zero + 1);
  try {
    const text::Tokenizer t(io::read_tokenizer_json(json, "fuzz.json", json, "fuzz config"));
    const auto ids = t.encode(words, {text::Wrap::post_processed, text::Control::token});
    const std::string whole = t.decode(ids);
    text::StreamDecoder stream(t);
    std::string joined;
    for (text::TokenId id : ids) joined += stream.push(id);
    joined += stream.finish();
    if (joined != whole || !text::is_valid_utf8(whole)) __builtin_trap();
    t.encode(words);
  } catch (const Error& e) {
    if (e.fault() == Fault::bug) __builtin_trap();
  }
  return 0;
}
