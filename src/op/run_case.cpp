#include "op/run_case.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "op/prepare_weight.h"

namespace ridge::op {

View CaseRun::bind(ir::Value v, std::vector<std::byte>& storage) const {
  const ir::ValueInfo& info = inputs_.program[v];
  View view{.dtype = info.dtype, .rank = info.shape.rank};
  for (int i = 0; i < view.rank; ++i) view.dims[i] = inputs_.sizes().of(info.shape[i]);
  if (storage.empty())
    storage.assign(std::size_t(view.bytes()) + 1, std::byte(0xff));  // 0xff..: a NaN in every float type
  view.data = storage.data();
  return view;
}

CaseRun::CaseRun(const Case& c, const ir::Target& target, ThreadPool& pool, std::uint64_t seed, Place place)
    : inputs_(seed, c.sizes), pool_(pool) {
  c.record(inputs_);
  ir::Program& p = inputs_.program;
  if (p.calls().size() != 1) fail_bug("case {} recorded {} calls, not one", c.name, p.calls().size());
  ir::Target sized = target;
  sized.most = c.sizes;
  choice_ = call().op->choose(p, call(), sized);
  storage_.resize(p.values().size());
  for (std::size_t i = 0; i < call().in.size(); ++i) {
    const ir::Value v = call().in[i];
    if (!v) {
      in_.push_back({});
      continue;
    }
    storage_[std::size_t(v.id)] = inputs_.contents(v);
    View view = bind(v, storage_[std::size_t(v.id)]);
    if (p[v].kind == ir::Kind::weight && weight_layout(p, v, sized) == Layout::panels) {
      std::vector<std::byte> packed(packed_bytes(view));
      view = pack_weight(view, packed.data(), pool);
      storage_[std::size_t(v.id)] = std::move(packed);
    }
    in_.push_back(view);
  }
  for (ir::Value v : call().out) {
    const bool shared = place == Place::in_place && out_.empty();
    out_.push_back(bind(v, storage_[std::size_t((shared ? call().in[0] : p.first_version(v)).id)]));
  }
  scratch_.resize(std::size_t(choice_.scratch_bytes) + 64);
}

void CaseRun::run() {
  auto aligned = (reinterpret_cast<std::uintptr_t>(scratch_.data()) + 63) / 64 * 64;
  std::span<std::byte> scratch(reinterpret_cast<std::byte*>(aligned), std::size_t(choice_.scratch_bytes));
  choice_.run(ir::Bound{in_, out_, call().params, pool_, scratch});
}

std::vector<std::vector<float>> CaseRun::outputs() const {
  std::vector<std::vector<float>> all;
  for (const View& v : out_) {
    std::vector<float> values(v.rows() * v.columns());
    for (std::int64_t r = 0; r < v.rows(); ++r) {
      if (v.dtype == DType::i32)
        for (std::int64_t i = 0; i < v.columns(); ++i)
          values[r * v.columns() + i] = float(v.row_as<std::int32_t>(r)[i]);
      else info(v.dtype).decode(v.row(r), &values[r * v.columns()], v.columns());
    }
    all.push_back(std::move(values));
  }
  return all;
}

double relative_error(const std::vector<float>& a, const std::vector<float>& reference) {
  if (a.size() != reference.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(reference[i])) return std::numeric_limits<double>::infinity();
    difference += (double(a[i]) - reference[i]) * (double(a[i]) - reference[i]);
    norm += double(reference[i]) * reference[i];
  }
  if (norm == 0) return difference == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::sqrt(difference / norm);
}

}  // namespace ridge::op
