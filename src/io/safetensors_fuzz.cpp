// A safetensors file from any bytes: refused as the input's fault, or every tensor lies inside.
#include <cstdlib>

#include "base/error.h"
#include "io/safetensors.h"

using namespace ridge;
using namespace ridge::io;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    std::uint64_t sum = 0;
    for (const SafetensorsTensor& t : parse_safetensors(bytes, "fuzz").tensors) {
      if (t.offset > size || t.bytes > size - t.offset) std::abort();
      sum += t.bytes;
    }
    if (sum > size || !looks_like_safetensors(bytes)) std::abort();
  } catch (const Error& e) {
    if (e.fault() != Fault::input) std::abort();
  }
  return 0;
}
