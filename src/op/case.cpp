#include "op/case.h"

#include <cmath>

#include "base/error.h"

namespace ridge::op {
namespace {

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64 (Steele, Lea and Flood 2014)
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t elements(const Shape& shape, const Sizes& sizes) {
  std::int64_t n = 1;
  for (int i = 0; i < shape.rank; ++i) n *= sizes.of(shape[i]);
  return n;
}

// Random bytes, with every half-float scale of a block format small and finite: where there is no encoder.
std::vector<std::byte> random_blocks(DType dtype, std::int64_t count, std::uint64_t& seed) {
  std::vector<std::byte> bytes(count * info(dtype).block_bytes);
  for (std::byte& b : bytes) b = std::byte(next_random(seed));
  return bytes;
}

}  // namespace

float CaseInputs::normal() {  // Box and Muller
  const double u = double(next_random(seed_) >> 11) * 0x1p-53 + 0x1p-54, v = double(next_random(seed_) >> 11) * 0x1p-53;
  return float(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
}

ir::Value CaseInputs::keep(ir::Value v, std::vector<std::byte> contents) {
  contents_.resize(std::size_t(v.id) + 1);
  contents_[std::size_t(v.id)] = std::move(contents);
  return v;
}

static std::vector<std::byte> encode_normal(CaseInputs& c, DType dtype, std::int64_t rows, std::int64_t columns,
                                            float scale) {
  std::vector<float> row(columns);
  std::vector<std::byte> bytes(rows * row_bytes(dtype, columns));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (float& x : row) x = scale * c.normal();
    info(dtype).encode(row.data(), bytes.data() + r * row_bytes(dtype, columns), columns);
  }
  return bytes;
}

ir::Value CaseInputs::activation(std::string name, Shape shape, float scale) {
  const ir::Value v = program.input(std::move(name), DType::f32, shape);
  if (fill_ == Contents::none) return v;
  return keep(v, encode_normal(*this, DType::f32, elements(shape, sizes_), 1, scale));
}
ir::Value CaseInputs::activation_q8(std::string name, Shape shape) {
  const std::int64_t columns = shape[-1].size;
  const ir::Value v = program.input(std::move(name), DType::q8_act, shape);
  if (fill_ == Contents::none) return v;
  return keep(v, encode_normal(*this, DType::q8_act, elements(shape, sizes_) / columns, columns, 1));
}
ir::Value CaseInputs::weight(std::string name, DType dtype, Shape shape, float scale) {
  const std::int64_t columns = shape[-1].size, rows = elements(shape, sizes_) / columns;
  const ir::Value v = program.weight(std::move(name), dtype, shape);
  if (fill_ == Contents::none) return v;
  if (info(dtype).encode) return keep(v, encode_normal(*this, dtype, rows, columns, scale));
  return keep(v, random_blocks(dtype, rows * (row_bytes(dtype, columns) / info(dtype).block_bytes), seed_));
}
ir::Value CaseInputs::state(std::string name, DType dtype, Shape shape) {
  const std::int64_t columns = shape[-1].size;
  const ir::Value v = program.state(std::move(name), dtype, shape);
  if (fill_ == Contents::none) return v;
  return keep(v, encode_normal(*this, dtype, elements(shape, sizes_) / columns, columns, 1));
}
ir::Value CaseInputs::ints(std::string name, Shape shape, std::vector<std::int32_t> contents) {
  if (std::int64_t(contents.size()) != elements(shape, sizes_))
    fail_bug("case input {}: {} values for {}", name, contents.size(), shape.text());
  const auto bytes = std::as_bytes(std::span(contents));
  return keep(program.input(std::move(name), DType::i32, shape), {bytes.begin(), bytes.end()});
}
ir::Value CaseInputs::bytes(std::string name, Shape shape, std::vector<std::byte> contents) {
  return keep(program.input(std::move(name), DType::u8, shape), std::move(contents));
}

}  // namespace ridge::op
