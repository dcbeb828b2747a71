#include "quant/stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::quant {
namespace {

constexpr std::int64_t piece_elems = 1 << 16;  // a multiple of every block
constexpr std::int64_t pieces_per_thread = 8;  // of a chunk: waiting for the last one costs little

// Reads any range of a tensor's values that begins at a block, in the order they are to be written.
class Source {
 public:
  Source(const io::ModelFiles& files, const PlannedTensor& t) : tensor_(t), type_(*t.sources.front()->dtype) {
    for (const io::TensorEntry* entry : t.sources) slices_.push_back(files.bytes(*entry));
    columns_ = t.spec.shape.empty() ? 1 : t.spec.shape.back();
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < t.spec.shape.size(); ++i) rows *= t.spec.shape[i];
    elems_ = rows * columns_;
    slice_rows_ = rows / std::int64_t(slices_.size());
  }
  std::int64_t elems() const { return elems_; }

  void read(std::int64_t begin, std::int64_t count, float* values) const {
    while (count > 0) {
      const std::int64_t row = begin / columns_, column = begin % columns_;
      const std::int64_t n = std::min(count, columns_ - column);
      read_row(row, column, n, values);
      begin += n, values += n, count -= n;
    }
    // The sum of rows is small beside their decoding; rows of one element do not occur but in tests.
  }

 private:
  void read_row(std::int64_t row, std::int64_t column, std::int64_t n, float* values) const {
    const std::span<const std::byte> slice = slices_[std::size_t(row / slice_rows_)];
    row %= slice_rows_;
    if (tensor_.permuted_heads > 0) row = row_in_halves(row);
    const DTypeInfo& type = info(type_);
    if (tensor_.transposed) {
      for (std::int64_t i = 0; i < n; ++i) type.decode(slice.data() + ((column + i) * slice_rows_ + row) * type.block_bytes, values + i, 1);
    } else {
      type.decode(slice.data() + row * row_bytes(type_, columns_) + column / type.block_elems * type.block_bytes, values, n);
    }
    if (tensor_.add != 0)
      for (std::int64_t i = 0; i < n; ++i) values[i] += tensor_.add;
  }

  // Pair i of a head is in rows 2i and 2i + 1 of what is written, in rows i and i + half of what is read.
  std::int64_t row_in_halves(std::int64_t row) const {
    const std::int64_t head_rows = slice_rows_ / tensor_.permuted_heads, in_head = row % head_rows;
    return row - in_head + in_head % 2 * (head_rows / 2) + in_head / 2;
  }

  const PlannedTensor& tensor_;
  DType type_;
  std::vector<std::span<const std::byte>> slices_;
  std::int64_t columns_, elems_, slice_rows_;
};

void check_finite(std::span<const float> values, std::int64_t first, const PlannedTensor& t, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail_input("tensor {}, value {}: {}", io::quote(t.sources.front()->name), first + std::int64_t(i), what);
}

}  // namespace

void stream_tensor(const io::ModelFiles& files, const PlannedTensor& t, ThreadPool& pool, Progress& progress,
                   FunctionRef<void(std::span<const std::byte>)> write) {
  const Source source(files, t);
  const DTypeInfo& to = info(t.spec.dtype);
  const std::int64_t chunk_elems = std::min(source.elems(), piece_elems * pieces_per_thread * pool.threads());
  std::vector<std::byte> chunk(std::size_t(row_bytes(to.id, chunk_elems)));
  std::vector<float> values(std::size_t(std::min(chunk_elems, piece_elems) * pool.threads()));
  for (std::int64_t begin = 0; begin < source.elems(); begin += chunk_elems) {
    const std::int64_t elems = std::min(chunk_elems, source.elems() - begin);
    pool.parallel_for((elems + piece_elems - 1) / piece_elems, [&](std::int64_t piece, int worker) {
      const std::int64_t at = piece * piece_elems, n = std::min(piece_elems, elems - at);
      const std::span<float> mine(values.data() + std::min(chunk_elems, piece_elems) * worker, std::size_t(n));
      std::byte* out = chunk.data() + at / to.block_elems * to.block_bytes;
      source.read(begin + at, n, mine.data());
      check_finite(mine, begin + at, t, "is not a finite number; such a model is broken");
      to.encode(mine.data(), out, n);
      if (to.id == DType::f32) return;
      to.decode(out, mine.data(), n);
      check_finite(mine, begin + at, t, fmt::format("is too large for {}; BF16 and F32 hold it", to.name));
    });
    write(std::span(chunk).first(std::size_t(row_bytes(to.id, elems))));
    progress.advance(row_bytes(to.id, elems));
  }
  for (const io::TensorEntry* entry : t.sources) files.release(*entry);
}

}  // namespace ridge::quant
