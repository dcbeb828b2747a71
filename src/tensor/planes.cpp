#include "tensor/planes.h"

#include <cstring>

namespace ridge {

void split_planes(DType type, const std::byte* blocks, std::int64_t count, std::int64_t first, std::int64_t last,
                  std::byte* to) {
  const PlaneFields fields = plane_fields(type);
  const Planes planes = planes_of(type, count);
  const std::int64_t block_bytes = info(type).block_bytes;
  for (std::int64_t b = first; b < last; ++b) {
    const std::byte* from = blocks + b * block_bytes;
    for (int f = 0; f < fields.count; ++f) {
      const int bytes = fields.bytes[std::size_t(f)];
      std::memcpy(to + planes.offset[std::size_t(f)] + b * bytes, from, std::size_t(bytes));
      from += bytes;
    }
  }
}

}  // namespace ridge
