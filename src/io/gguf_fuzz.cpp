// GGUF header, metadata and tensor list from any bytes: refused as the input's fault, or all of it can be walked.
#include <cstdlib>

#include "base/error.h"
#include "io/gguf.h"

using namespace ridge;
using namespace ridge::io;

namespace {

void walk(const GgufMetadata& m) {
  for (const GgufValue& v : m.all()) {
    text_of(v);
    if (m.find(v.key) != &v) std::abort();
    if (v.element != GgufType::string) continue;
    std::uint64_t bytes = 0;
    for (std::string_view s : m.get_strings(v.key)) bytes += s.size();
    if (bytes > v.payload.size()) std::abort();
  }
}

void ask(const GgufMetadata& m, std::string_view key) {
  const auto attempt = [&](auto get) {
    try {
      get();
    } catch (const Error& e) {
      if (e.fault() != Fault::input) std::abort();
    }
  };
  attempt([&] { m.get_u64(key); });
  attempt([&] { m.get_f64(key); });
  attempt([&] { m.get_bool(key); });
  attempt([&] { m.get_string(key); });
  attempt([&] { m.get_i32s(key); });
  attempt([&] { m.get_f32s(key); });
  attempt([&] { m.get_bools(key); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const GgufHeader h = parse_gguf(bytes, "fuzz");
    walk(h.metadata);
    for (const GgufValue& v : h.metadata.all()) ask(h.metadata, v.key);
    for (const GgufTensor& t : h.tensors)
      if (t.offset > size || t.bytes.value_or(0) > size - t.offset) std::abort();
  } catch (const Error& e) {
    if (e.fault() != Fault::input) std::abort();
  }
  return 0;
}
