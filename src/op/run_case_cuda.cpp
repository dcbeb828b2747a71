#include "op/run_case_cuda.h"

#include <cstring>

#include "base/error.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "op/table_cuda.h"
#include "tensor/planes.h"

namespace ridge::op {
namespace {

constexpr std::byte poison{0xff};  // 0xff..: a NaN in every float type

std::int64_t aligned(std::int64_t n) { return (n + 255) / 256 * 256; }

// The bytes of a value as a GPU holds it, and the view that goes with them: vectors as f32, block formats in planes.
std::vector<std::byte> device_form(const ir::ValueInfo& v, const std::vector<std::byte>& file, View& view) {
  if (v.kind != ir::Kind::weight) return file;
  if (view.rank == 1) {
    std::vector<std::byte> values(std::size_t(view.dim(0)) * sizeof(float));
    info(view.dtype).decode(file.data(), reinterpret_cast<float*>(values.data()), view.dim(0));
    view.dtype = DType::f32;
    return values;
  }
  if (!is_block(view.dtype)) return file;
  view.layout = Layout::planes;
  const std::int64_t matrices = view.rank == 3 ? view.dim(0) : 1;
  const std::int64_t bytes = std::int64_t(file.size()) / matrices, blocks = bytes / info(view.dtype).block_bytes;
  const Planes planes = planes_of(view.dtype, blocks);
  std::vector<std::byte> all(std::size_t(matrices * planes.bytes), poison);
  for (std::int64_t m = 0; m < matrices; ++m)
    split_planes(view.dtype, file.data() + m * bytes, blocks, 0, blocks, all.data() + m * planes.bytes);
  return all;
}

}  // namespace

CudaCaseRun::CudaCaseRun(const Case& c, const ir::Target& target, std::uint64_t seed)
    : inputs_(seed, c.sizes), on_(target.gpu), stream_(std::make_unique<cuda::Stream>()) {
  c.record(inputs_);
  ir::Program& p = inputs_.program;
  if (p.calls().size() != 1) fail_bug("case {} recorded {} calls, not one", c.name, p.calls().size());
  on_.stream = *stream_;
  ir::Target sized = target;
  sized.most = c.sizes;
  choice_ = choose_cuda(p, call(), sized);
  host_.resize(p.values().size()), views_.resize(p.values().size());
  std::vector<bool> given(p.values().size());
  for (ir::Value v : call().in)
    if (v) given[std::size_t(v.id)] = true;
  std::int64_t total = 0;
  std::vector<std::int64_t> offset(p.values().size());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ir::ValueInfo& info = p.values()[i];
    View& view = views_[i];
    view = {.dtype = info.dtype, .rank = info.shape.rank};
    for (int d = 0; d < view.rank; ++d) view.dims[d] = inputs_.sizes().of(info.shape[d]);
    if (info.version_of) continue;  // lies where its first version does
    host_[i] = given[i] ? device_form(info, inputs_.contents(ir::Value{std::int32_t(i)}), view)
                        : std::vector<std::byte>(std::size_t(view.bytes()), poison);
    offset[i] = total;
    total += aligned(std::int64_t(host_[i].size()) + 1);
  }
  memory_ = std::make_unique<cuda::Buffer>(cuda::Where::device, total + choice_.scratch_bytes, "a case");
  scratch_ = {memory_->data() + total, std::size_t(choice_.scratch_bytes)};
  for (std::size_t i = 0; i < views_.size(); ++i)
    views_[i].data = memory_->data() + offset[std::size_t(p.first_version(ir::Value{std::int32_t(i)}).id)];
  for (ir::Value v : call().in) in_.push_back(v ? views_[std::size_t(v.id)] : View{});
  for (ir::Value v : call().out) out_.push_back(views_[std::size_t(v.id)]);
  upload();
}

CudaCaseRun::~CudaCaseRun() = default;

void CudaCaseRun::upload() {
  for (std::size_t i = 0; i < host_.size(); ++i)
    if (!inputs_.program.values()[i].version_of) stream_->copy(views_[i].data, host_[i].data(), host_[i].size());
  const std::vector<std::byte> dirt(scratch_.size(), poison);
  stream_->copy(scratch_.data(), dirt.data(), dirt.size());
  stream_->wait();
}

void CudaCaseRun::launch() { choice_.launch(ir::CudaBound{in_, out_, call().params, on_, scratch_}); }

void CudaCaseRun::run() {
  upload();
  launch();
  stream_->wait();
}

std::vector<std::vector<float>> CudaCaseRun::outputs() const {
  std::vector<std::vector<float>> all;
  for (const View& device : out_) {
    std::vector<std::byte> bytes(std::size_t(device.bytes()));
    stream_->copy(bytes.data(), device.data, bytes.size());
    stream_->wait();
    View v = device;
    v.data = bytes.data();
    std::vector<float> values(std::size_t(v.rows() * v.columns()));
    for (std::int64_t r = 0; r < v.rows(); ++r) {
      float* row = values.data() + r * v.columns();
      if (v.dtype == DType::i32) std::copy_n(v.row_as<std::int32_t>(r), v.columns(), row);
      else info(v.dtype).decode(v.row(r), row, v.columns());
    }
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace ridge::op
