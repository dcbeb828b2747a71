// Bytes in pieces of any size: the stream gives what the whole gives, well-formed at every step; stop strings, too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/stop.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge::text;
  if (size == 0) return 0;
  const std::size_t step = data[0] % 7 + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Utf8Stream stream;
  StopMatcher matcher({"ab", "bab\xC3\xA9", "\n\n"});
  std::string whole, shown;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string piece;
    stream.push(bytes.substr(at, step), piece);
    if (!is_valid_utf8(piece)) __builtin_trap();
    const std::string part = matcher.push(piece);
    if (!is_valid_utf8(part)) __builtin_trap();
    whole += piece;
    shown += part;
  }
  stream.finish(whole);
  if (whole != mended(bytes)) __builtin_trap();
  shown += matcher.finish();
  StopMatcher at_once({"ab", "bab\xC3\xA9", "\n\n"});
  std::string shown_at_once = at_once.push(whole);
  shown_at_once += at_once.finish();
  if (matcher.stopped() && shown != shown_at_once) __builtin_trap();
  return 0;
}
