#include "program/bind_weights.h"

#include <cstring>

#include "op/prepare_weight.h"

namespace ridge::program {
namespace {

constexpr std::int64_t alignment = 64;
std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

enum class Fate : std::uint8_t { stays, gathered, packed, as_f32 };

Fate fate_of(const ir::Program& p, const WeightSource& s, const ir::Target& target) {
  if (s.rows.rank == 1) return Fate::as_f32;
  if (op::weight_layout(p, s.value, target) == Layout::panels) return Fate::packed;
  return s.slices.empty() ? Fate::stays : Fate::gathered;
}

std::int64_t bytes_of(const WeightSource& s, Fate fate) {
  switch (fate) {
    case Fate::stays: return 0;
    case Fate::gathered: return s.rows.bytes();
    case Fate::packed: return op::packed_bytes(s.rows);
    case Fate::as_f32: return s.rows.dim(0) * std::int64_t(sizeof(float));
  }
  return 0;
}

View slice_of(const View& whole, std::byte* data) {
  View slice{.data = data, .dtype = whole.dtype, .rank = whole.rank - 1};
  for (int i = 0; i < slice.rank; ++i) slice.dims[i] = whole.dims[i + 1];
  return slice;
}

// A weight whose slices lie apart, one after the other at `to`: as they are, or packed.
View bind_slices(const WeightSource& s, Fate fate, std::byte* to, ThreadPool& pool) {
  View view = s.rows;
  view.data = to;
  for (std::byte* data : s.slices) {
    const View slice = slice_of(s.rows, data);
    if (fate == Fate::packed) {
      view.layout = op::pack_weight(slice, to, pool).layout;
      to += op::packed_bytes(slice);
    } else {
      std::memcpy(to, data, std::size_t(slice.bytes()));
      to += slice.bytes();
    }
  }
  return view;
}

}  // namespace

BoundWeights bind_weights(const ir::Program& p, const ir::Target& target, std::span<const WeightSource> sources,
                          ThreadPool& pool, const std::function<void(std::size_t source)>& release) {
  BoundWeights bound;
  bound.views.resize(p.values().size());
  std::int64_t total = 0;
  for (const WeightSource& s : sources) total += aligned(bytes_of(s, fate_of(p, s, target)));
  bound.packed = Arena(total, Pages::huge);
  std::byte* at = bound.packed.data();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const WeightSource& s = sources[i];
    const Fate fate = fate_of(p, s, target);
    View& view = bound.views[std::size_t(s.value.id)];
    if (fate == Fate::stays) {
      view = s.rows;
      bound.mapped_bytes += s.rows.bytes();
      continue;
    }
    if (!s.slices.empty()) {
      view = bind_slices(s, fate, at, pool);
    } else if (fate == Fate::packed) {
      view = op::pack_weight(s.rows, at, pool);
    } else {
      view = {.data = at, .dtype = DType::f32, .rank = 1, .dims = {s.rows.dim(0)}};
      info(s.rows.dtype).decode(s.rows.data, view.as<float>(), s.rows.dim(0));
    }
    at += aligned(bytes_of(s, fate));
    if (release) release(i);
  }
  return bound;
}

std::int64_t weight_bytes(const ir::Program& p, const ir::Target& target, std::span<const WeightSource> sources) {
  std::int64_t total = 0;
  for (const WeightSource& s : sources) {
    const Fate fate = fate_of(p, s, target);
    total += fate == Fate::stays ? s.rows.bytes() : aligned(bytes_of(s, fate));
  }
  return total;
}

}  // namespace ridge::program
