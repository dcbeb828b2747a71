// A SentencePiece model file from a stranger, and a text through whatever tokenizer it makes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "io/tokenizer_sentencepiece.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  try {
    const text::Tokenizer t(io::read_sentencepiece(std::as_bytes(std::span(data, size)), "fuzz.model"));
    const auto ids = t.encode("hello  world \xEF\xAC\x81\xE2\x91\xA0 e\xCC\x81 \xE2\x96\x81x\xFF",
                              {text::Wrap::post_processed, text::Control::token});
    const std::string whole = t.decode(ids);
    text::StreamDecoder stream(t);
    std::string joined;
    for (text::TokenId id : ids) joined += stream.push(id);
    joined += stream.finish();
    if (joined != whole || !text::is_valid_utf8(whole)) __builtin_trap();
  } catch (const Error& e) {
    if (e.fault() == Fault::bug) __builtin_trap();
  }
  return 0;
}
