#include "program/memory_plan.h"

#include <algorithm>

namespace ridge::program {
namespace {

constexpr std::int64_t alignment = 64;  // a cache line, and the widest vector
std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

// One place of the arena: the values that share it in turn (in-place chains), live from `first` to `last`.
struct Place {
  std::vector<std::int32_t> values;
  std::int64_t bytes = 0;
  std::size_t first = 0, last = 0;
  std::int64_t offset = 0;
};

std::vector<std::size_t> last_uses(const ir::Program& p) {
  std::vector<std::size_t> last(p.values().size(), 0);
  for (std::size_t i = 0; i < p.calls().size(); ++i) {
    for (ir::Value v : p.calls()[i].in)
      if (v) last[std::size_t(v.id)] = i;
    for (ir::Value v : p.calls()[i].out) last[std::size_t(v.id)] = std::max(last[std::size_t(v.id)], i);
  }
  for (std::size_t v = 0; v < last.size(); ++v)
    if (p.values()[v].kind == ir::Kind::output) last[v] = p.calls().size();
  return last;
}

bool lives_in_arena(const ir::ValueInfo& v) { return v.kind == ir::Kind::intermediate || v.kind == ir::Kind::output; }

std::vector<Place> make_places(const ir::Program& p, const Sizes& most, Reuse reuse) {
  const std::vector<std::size_t> last = last_uses(p);
  std::vector<Place> places;
  std::vector<std::int32_t> place_of(p.values().size(), -1);
  for (std::size_t i = 0; i < p.calls().size(); ++i) {
    const ir::Call& c = p.calls()[i];
    for (std::size_t o = 0; o < c.out.size(); ++o) {
      const ir::Value v = c.out[o];
      if (!lives_in_arena(p[v])) continue;
      const std::int64_t bytes = aligned(value_bytes(p[v], most));
      const ir::Value x = c.in.empty() ? ir::Value{} : c.in[0];
      const bool takes_over = reuse == Reuse::in_place && o == 0 && c.op->in_place && x &&
                              place_of[std::size_t(x.id)] >= 0 && last[std::size_t(x.id)] == i &&
                              value_bytes(p[x], most) == value_bytes(p[v], most) &&
                              std::count(c.in.begin(), c.in.end(), x) == 1;
      if (takes_over) {
        Place& place = places[std::size_t(place_of[std::size_t(x.id)])];
        place.values.push_back(v.id);
        place.last = std::max(place.last, last[std::size_t(v.id)]);
        place_of[std::size_t(v.id)] = place_of[std::size_t(x.id)];
      } else {
        place_of[std::size_t(v.id)] = std::int32_t(places.size());
        places.push_back({{v.id}, bytes, i, last[std::size_t(v.id)]});
      }
    }
  }
  return places;
}

// Largest first, each at the lowest offset where it overlaps nobody who lives at the same time.
std::int64_t assign_offsets(std::vector<Place>& places) {
  std::vector<std::size_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return places[a].bytes > places[b].bytes; });
  std::vector<const Place*> done;  // by offset
  std::int64_t total = 0;
  for (std::size_t index : order) {
    Place& place = places[index];
    std::int64_t offset = 0;
    for (const Place* other : done) {
      const bool together = place.first <= other->last && other->first <= place.last;
      if (together && offset + place.bytes > other->offset && offset < other->offset + other->bytes)
        offset = other->offset + other->bytes;
    }
    place.offset = offset;
    total = std::max(total, offset + place.bytes);
    done.insert(std::upper_bound(done.begin(), done.end(), &place,
                                 [](const Place* a, const Place* b) { return a->offset < b->offset; }),
                &place);
  }
  return total;
}

}  // namespace

std::int64_t value_bytes(const ir::ValueInfo& v, const Sizes& sizes) {
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < v.shape.rank; ++i) rows *= sizes.of(v.shape[i]);
  return rows * row_bytes(v.dtype, sizes.of(v.shape[-1]));
}

MemoryPlan plan_memory(const ir::Program& p, const Sizes& most, std::int64_t scratch_bytes, Reuse reuse) {
  MemoryPlan plan{.offset = std::vector<std::int64_t>(p.values().size(), -1), .scratch_bytes = scratch_bytes};
  for (std::size_t v = 0; v < p.values().size(); ++v) {
    const ir::ValueInfo& info = p.values()[v];
    std::int64_t* region = nullptr;
    if (info.kind == ir::Kind::input) region = &plan.input_bytes;
    if (info.kind == ir::Kind::state && !info.version_of) region = &plan.state_bytes;
    if (!region) continue;
    plan.offset[v] = *region;
    *region += aligned(value_bytes(info, most));
  }
  std::vector<Place> places = make_places(p, most, reuse);
  plan.arena_bytes = assign_offsets(places);
  for (const Place& place : places)
    for (std::int32_t v : place.values) plan.offset[std::size_t(v)] = place.offset;
  return plan;
}

}  // namespace ridge::program
