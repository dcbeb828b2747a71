#include "model/random_weights.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace ridge::model {
namespace {

constexpr std::int64_t tile_elems = 1 << 19;  // encoded once and repeated: encoding gigabytes would take minutes

std::vector<std::byte> random_tile(const DTypeInfo& type) {
  if (!type.encode) fail_input("random weights of {}: ridge has no encoder for it", type.name);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(std::size_t{tile_elems});
  for (float& v : values) v = normal(random);
  std::vector<std::byte> tile(std::size_t(row_bytes(type.id, tile_elems)));
  type.encode(values.data(), tile.data(), tile_elems);
  return tile;
}

}  // namespace

std::span<const std::byte> RandomWeights::matrix(DType type, std::int64_t rows, std::int64_t columns) {
  const auto bytes = std::size_t(rows * row_bytes(type, columns));
  std::deque<std::vector<std::byte>>& list = made_[type];
  if (list.empty()) list.push_back(random_tile(info(type)));
  if (list.back().size() < bytes) {
    const std::vector<std::byte>& tile = list.front();
    std::vector<std::byte> whole(bytes);
    for (std::size_t at = 0; at < bytes; at += tile.size())
      std::copy_n(tile.begin(), std::min(tile.size(), bytes - at), whole.begin() + std::ptrdiff_t(at));
    list.push_back(std::move(whole));
  }
  return std::span<const std::byte>(list.back()).first(bytes);
}

std::span<const std::byte> RandomWeights::vector(std::int64_t elems) {
  std::deque<std::vector<std::byte>>& list = made_[DType::i32];  // no weight has this type: the place of the ones
  const auto bytes = std::size_t(elems) * sizeof(float);
  if (list.empty() || list.back().size() < bytes) {
    std::vector<std::byte> ones(bytes);
    info(DType::f32).encode(std::vector<float>(std::size_t(elems), 1.0f).data(), ones.data(), elems);
    list.push_back(std::move(ones));
  }
  return std::span<const std::byte>(list.back()).first(bytes);
}

}  // namespace ridge::model
