#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "program/cuda_executor.h"
#include "tensor/planes.h"

namespace ridge::program {
namespace {

std::int64_t aligned(std::int64_t n) { return (n + plane_alignment - 1) / plane_alignment * plane_alignment; }

std::int64_t matrices(const View& v) { return v.rank == 3 ? v.dim(0) : 1; }

// Bytes of one matrix of a weight on the device.
std::int64_t matrix_bytes(const View& v) {
  const std::int64_t rows = v.rows() / std::max<std::int64_t>(1, matrices(v));
  if (!is_block(v.dtype)) return rows * v.row_bytes();
  return planes_of(v.dtype, rows * (v.row_bytes() / info(v.dtype).block_bytes)).bytes;
}

std::int64_t device_bytes(const View& v) {
  return aligned(v.rank == 1 ? v.dim(0) * std::int64_t(sizeof(float)) : matrices(v) * matrix_bytes(v));
}

// Pieces of weights on their way: filled by the host in one buffer while the other is copied.
class Staging {
 public:
  explicit Staging(ThreadPool& pool) : pool_(pool) {}
  ~Staging() {
    for (const cuda::Event& e : done_) e.wait();
  }

  // Plain bytes.
  void send(const std::byte* from, std::int64_t bytes, std::byte* to) {
    for (std::int64_t at = 0; at < bytes; at += piece) {
      const std::int64_t count = std::min(piece, bytes - at);
      std::byte* const staged = take();
      pool_.parallel_ranges(count, 1 << 20, [&](std::int64_t begin, std::int64_t end, int) {
        std::memcpy(staged + begin, from + at + begin, std::size_t(end - begin));
      });
      stream_.copy(to + at, staged, std::size_t(count));
      sent();
    }
  }
  // `count` blocks, parted into planes.
  void send_blocks(DType type, const std::byte* from, std::int64_t count, std::byte* to) {
    const PlaneFields fields = plane_fields(type);
    const Planes whole = planes_of(type, count);
    const std::int64_t block_bytes = info(type).block_bytes, most = (piece - 4 * plane_alignment) / block_bytes;
    for (std::int64_t at = 0; at < count; at += most) {
      const std::int64_t n = std::min(most, count - at);
      std::byte* const staged = take();
      pool_.parallel_ranges(n, 4096, [&](std::int64_t begin, std::int64_t end, int) {
        split_planes(type, from + at * block_bytes, n, begin, end, staged);
      });
      const Planes part = planes_of(type, n);
      for (int f = 0; f < fields.count; ++f) {
        const std::int64_t bytes = fields.bytes[std::size_t(f)];
        stream_.copy(to + whole.offset[std::size_t(f)] + at * bytes, staged + part.offset[std::size_t(f)],
                     std::size_t(n * bytes));
      }
      sent();
    }
  }

 private:
  static constexpr std::int64_t piece = 32 << 20;
  std::byte* take() {
    done_[turn_].wait();  // what lay there has been copied
    return buffers_[turn_].data();
  }
  void sent() {
    stream_.record(done_[turn_]);
    turn_ = 1 - turn_;
  }
  ThreadPool& pool_;
  cuda::Stream stream_;
  cuda::Event done_[2];
  cuda::Buffer buffers_[2] = {{cuda::Where::pinned, piece, "staging weights"},
                              {cuda::Where::pinned, piece, "staging weights"}};
  int turn_ = 0;
};

void send_matrix(Staging& staging, const View& whole, const std::byte* from, std::byte* to) {
  const std::int64_t rows = whole.rows() / std::max<std::int64_t>(1, matrices(whole)), bytes = rows * whole.row_bytes();
  if (is_block(whole.dtype)) staging.send_blocks(whole.dtype, from, bytes / info(whole.dtype).block_bytes, to);
  else staging.send(from, bytes, to);
}

}  // namespace

BoundWeights upload_weights(const ir::Program& p, std::span<const WeightSource> sources, ThreadPool& pool,
                            const std::function<void(std::size_t source)>& release) {
  BoundWeights bound;
  bound.views.resize(p.values().size());
  for (const WeightSource& s : sources) bound.device_bytes += device_bytes(s.rows);
  const auto memory = std::make_shared<cuda::Buffer>(cuda::Where::device, bound.device_bytes, "the weights");
  bound.device = memory;
  std::byte* at = memory->data();
  Staging staging(pool);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const WeightSource& s = sources[i];
    View& view = bound.views[std::size_t(s.value.id)];
    view = s.rows;
    view.data = at;
    if (s.rows.rank == 1) {
      std::vector<float> values(std::size_t(s.rows.dim(0)));
      info(s.rows.dtype).decode(s.rows.data, values.data(), s.rows.dim(0));
      staging.send(reinterpret_cast<const std::byte*>(values.data()), s.rows.dim(0) * std::int64_t(sizeof(float)), at);
      view.dtype = DType::f32;
    } else {
      if (is_block(s.rows.dtype)) view.layout = Layout::planes;
      for (std::int64_t m = 0; m < matrices(s.rows); ++m) {
        const std::byte* from =
            s.slices.empty() ? s.rows.data + m * (s.rows.bytes() / matrices(s.rows)) : s.slices[std::size_t(m)];
        send_matrix(staging, s.rows, from, at + m * matrix_bytes(s.rows));
      }
    }
    at += device_bytes(s.rows);
    if (release) release(i);
  }
  return bound;
}

}  // namespace ridge::program
