#include "quant/stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/interrupt.h"
#include "io/quote.h"

namespace ridge::quant {
namespace {

constexpr std::int64_t piece_elems = 1 << 16;  // a multiple of every block
constexpr std::int64_t pieces_per_thread = 8;  // of a chunk: waiting for the last one costs little
constexpr std::size_t copied_at_once = std::size_t(1) << 22;

// Reads any range of a tensor's values that begins at a block, in the order they are to be written.
class Source {
 public:
  Source(const io::ModelFiles& files, const PlannedTensor& t)
      : files_(files), tensor_(t), type_(info(*t.sources.front()->dtype)) {
    for (const io::TensorEntry* entry : t.sources) slices_.push_back(files.bytes(*entry));
    const auto& shape = t.spec.shape;
    const bool rows_of_one = shape.size() == 1 && (t.turned_heads > 0 || t.scales.size() > 1);
    columns_ = shape.empty() || rows_of_one ? 1 : shape.back();
    elems_ = 1;
    for (std::int64_t n : shape) elems_ *= n;
    slice_rows_ = columns_ == 0 ? 0 : elems_ / columns_ / std::int64_t(slices_.size());
  }

  void read(std::int64_t begin, std::int64_t count, float* values) const {
    while (count > 0) {
      const std::int64_t row = begin / columns_, column = begin % columns_;
      std::int64_t n = std::min(count, columns_ - column);
      if (tensor_.transposed && column == 0 && count >= columns_) n = read_columns(row, count / columns_, values);
      else read_row(row, column, n, values);
      begin += n, values += n, count -= n;
    }
  }

  // Everything before this value was read for good: its pages need not stay.
  void let_go(std::int64_t end) {
    if (tensor_.transposed) return;
    const std::int64_t slice_elems = slice_rows_ * columns_;
    while (gone_ < end) {
      const std::size_t slice = std::size_t(gone_ / slice_elems);
      const std::int64_t first = gone_ % slice_elems, n = std::min(end - gone_, slice_elems - first);
      const auto at = [&](std::int64_t elem) { return std::size_t(elem / type_.block_elems * type_.block_bytes); };
      files_.release(*tensor_.sources[slice], slices_[slice].subspan(at(first), at(n)));
      gone_ += n;
    }
  }

 private:
  void read_row(std::int64_t row, std::int64_t column, std::int64_t n, float* values) const {
    const std::span<const std::byte> slice = slices_[std::size_t(row / slice_rows_)];
    row %= slice_rows_;
    if (tensor_.turned_heads > 0) row = row_in_halves(row);
    if (tensor_.transposed) {
      for (std::int64_t i = 0; i < n; ++i)
        type_.decode(slice.data() + ((column + i) * slice_rows_ + row) * type_.block_bytes, values + i, 1);
    } else {
      type_.decode(slice.data() + row * row_bytes(type_.id, columns_) + column / type_.block_elems * type_.block_bytes,
                   values, n);
    }
    if (!tensor_.scales.empty()) {
      const float scale = tensor_.scales[tensor_.scales.size() == 1 ? 0 : std::size_t(row)];
      for (std::int64_t i = 0; i < n; ++i) values[i] *= scale;
    }
    if (tensor_.add != 0)
      for (std::int64_t i = 0; i < n; ++i) values[i] += tensor_.add;
  }

  // Whole rows of a tensor whose file holds columns as rows: a run of each of these at a time. Returns how many values.
  std::int64_t read_columns(std::int64_t row, std::int64_t rows, float* values) const {
    constexpr std::int64_t most = 64;
    float run[most];
    rows = std::min(rows, most);
    for (std::int64_t k = 0; k < columns_; ++k) {
      type_.decode(slices_[0].data() + (k * slice_rows_ + row) * type_.block_bytes, run, rows);
      for (std::int64_t r = 0; r < rows; ++r) values[r * columns_ + k] = run[r];
    }
    return rows * columns_;
  }

  // Pair i of a head is in rows 2i and 2i + 1 of what is written, in rows i and i + half of what is read.
  std::int64_t row_in_halves(std::int64_t row) const {
    const std::int64_t head_rows = slice_rows_ / tensor_.turned_heads, in_head = row % head_rows;
    if (in_head >= tensor_.turned_rows) return row;
    return row - in_head + in_head % 2 * (tensor_.turned_rows / 2) + in_head / 2;
  }

  const io::ModelFiles& files_;
  const PlannedTensor& tensor_;
  const DTypeInfo& type_;
  std::vector<std::span<const std::byte>> slices_;
  std::int64_t columns_ = 1, elems_ = 0, slice_rows_ = 0, gone_ = 0;
};

void check_finite(std::span<const float> values, std::int64_t first, const PlannedTensor& t, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail_input("tensor {}, value {}: {}", io::quote(t.sources.empty() ? t.spec.name : t.sources.front()->name),
                 first + std::int64_t(i), what);
}

bool copy(const io::ModelFiles& files, const PlannedTensor& t, Progress& progress,
          FunctionRef<void(std::span<const std::byte>)> write) {
  for (const io::TensorEntry* entry : t.sources) {
    std::span<const std::byte> left = files.bytes(*entry);
    while (!left.empty()) {
      if (interrupted()) return false;
      const auto part = left.first(std::min(left.size(), copied_at_once));
      write(part);
      files.release(*entry, part);
      progress.advance(std::int64_t(part.size()));
      left = left.subspan(part.size());
    }
  }
  return true;
}

using ReadValues = FunctionRef<void(std::int64_t begin, std::int64_t count, float* values)>;

void encode_piece(const PlannedTensor& t, std::int64_t first, std::span<float> values, std::byte* out,
                  ReadValues read) {
  const DTypeInfo& to = info(t.spec.dtype);
  const auto n = std::int64_t(values.size());
  read(first, n, values.data());
  check_finite(values, first, t, "is not a finite number; such a model is broken");
  to.encode(values.data(), out, n);
  if (to.id == DType::f32) return;
  to.decode(out, values.data(), n);
  check_finite(values, first, t, fmt::format("is too large for {}; BF16 and F32 hold it", to.name));
}

// `done` hears how many values were read for good.
bool encode(const PlannedTensor& t, ThreadPool& pool, Progress& progress, ReadValues read,
            FunctionRef<void(std::int64_t)> done, FunctionRef<void(std::span<const std::byte>)> write) {
  const DTypeInfo& to = info(t.spec.dtype);
  std::int64_t all = 1;
  for (std::int64_t n : t.spec.shape) all *= n;
  const std::int64_t chunk_elems = std::min(all, piece_elems * pieces_per_thread * pool.threads());
  const std::int64_t piece = std::min(chunk_elems, piece_elems);
  std::vector<std::byte> chunk(std::size_t(row_bytes(to.id, chunk_elems)));
  std::vector<float> values(std::size_t(piece * pool.threads()));
  for (std::int64_t begin = 0; begin < all; begin += chunk_elems) {
    if (interrupted()) return false;
    const std::int64_t elems = std::min(chunk_elems, all - begin);
    pool.parallel_for((elems + piece_elems - 1) / piece_elems, [&](std::int64_t i, int worker) {
      const std::int64_t at = i * piece_elems, n = std::min(piece_elems, elems - at);
      encode_piece(t, begin + at, {values.data() + piece * worker, std::size_t(n)},
                   chunk.data() + at / to.block_elems * to.block_bytes, read);
    });
    write(std::span(chunk).first(std::size_t(row_bytes(to.id, elems))));
    done(begin + elems);
    progress.advance(row_bytes(to.id, elems));
  }
  return true;
}

}  // namespace

bool stream_tensor(const io::ModelFiles* files, const PlannedTensor& t, ThreadPool& pool, Progress& progress,
                   FunctionRef<void(std::span<const std::byte>)> write) {
  if (t.as_stored()) return copy(*files, t, progress, write);
  const auto nothing = [](std::int64_t) {};
  if (t.random)
    return encode(
        t, pool, progress, [&](std::int64_t at, std::int64_t n, float* v) { t.random->read(at, n, v); }, nothing,
        write);
  if (t.sources.empty())
    return encode(
        t, pool, progress, [&](std::int64_t at, std::int64_t n, float* v) { std::copy_n(t.values.data() + at, n, v); },
        nothing, write);
  Source source(*files, t);
  const bool whole = encode(
      t, pool, progress, [&](std::int64_t at, std::int64_t n, float* v) { source.read(at, n, v); },
      [&](std::int64_t end) { source.let_go(end); }, write);
  for (const io::TensorEntry* entry : t.sources) files->release(*entry);
  return whole;
}

}  // namespace ridge::quant
