// A tensor bound to memory: where its bytes are, how many there are, how they lie. A view owns nothing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace ridge {

enum class Layout : std::uint8_t {
  rows,    // row-major, each row in whole blocks
  panels,  // repacked by op/linear for its CPU kernels (op/linear/panel.h); only linear and embedding read it
  planes,  // each field of a block format in a plane of its own (tensor/planes.h): how GPUs read weights
};

struct View {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  Layout layout = Layout::rows;
  int rank = 0;
  std::array<std::int64_t, Shape::max_rank> dims{};

  explicit operator bool() const { return data != nullptr; }
  std::int64_t dim(int i) const { return dims[i < 0 ? rank + i : i]; }
  std::int64_t columns() const { return dim(-1); }  // elements of a row
  std::int64_t rows() const {                       // all other dimensions together
    std::int64_t n = 1;
    for (int i = 0; i + 1 < rank; ++i) n *= dims[i];
    return n;
  }
  std::int64_t row_bytes() const { return ridge::row_bytes(dtype, columns()); }
  std::int64_t bytes() const { return rows() * row_bytes(); }  // of layout rows
  template <class T> T* as() const { return reinterpret_cast<T*>(data); }
  std::byte* row(std::int64_t r) const { return data + r * row_bytes(); }
  template <class T> T* row_as(std::int64_t r) const { return reinterpret_cast<T*>(row(r)); }
};

}  // namespace ridge
