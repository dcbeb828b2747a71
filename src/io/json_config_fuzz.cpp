// JSON from any bytes through the bounded door, against nlohmann's own parser, and as a config.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/hf_config.h"
#include "io/json_bounded.h"

using namespace ridge;
using namespace ridge::io;
using Json = nlohmann::ordered_json;

namespace {

void ask(const HfConfig& c, const std::string& key) {
  const auto attempt = [&](auto get) {
    try {
      get();
    } catch (const Error& e) {
      if (e.fault() != Fault::input) std::abort();
    }
  };
  attempt([&] { c.integer(key); });
  attempt([&] { c.number(key); });
  attempt([&] { c.truth(key); });
  attempt([&] { c.text(key); });
  attempt([&] { c.integers(key); });
  attempt([&] { c.numbers(key); });
  attempt([&] { c.texts(key); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  bool read = false;
  try {
    const Json ours =
        parse_json(text, "fuzz", {.bytes = 1 << 20, .values = 100'000, .duplicates = DuplicateKeys::keep_last});
    read = true;
    const Json theirs = Json::parse(text, nullptr, false);
    if (theirs.is_discarded()) std::abort();
    // An ordered object of theirs keeps the first place of a key that is there twice, ours the last: compare as sets.
    if (nlohmann::json::parse(ours.dump()) != nlohmann::json::parse(theirs.dump())) std::abort();
  } catch (const Error& e) {
    if (e.fault() != Fault::input) std::abort();
  }
  try {
    const HfConfig c = HfConfig::parse(text, "fuzz");
    if (!read) std::abort();
    for (const std::string& key : c.unread()) ask(c, key);
    if (!c.unread().empty()) std::abort();
    c.names_in("");
  } catch (const Error& e) {
    if (e.fault() != Fault::input) std::abort();
  }
  return 0;
}
