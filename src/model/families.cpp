#include "model/families.h"

#include <cstring>

#include "model/rope_frequencies.h"
#include "op/linear/linear.h"

namespace ridge::model {
namespace {

constexpr Family all[] = {
    {"llama", llama},
};

std::vector<float> floats_of(const Tensor& t) {
  std::vector<float> values(std::size_t(t.shape.empty() ? 0 : t.shape[0]));
  if (!t.bytes.empty()) info(t.dtype).decode(t.bytes.data(), values.data(), std::int64_t(values.size()));
  return values;
}

}  // namespace

std::span<const Family> families() { return all; }

const Family* find_family(std::string_view architecture) {
  for (const Family& f : all)
    if (f.architecture == architecture) return &f;
  return nullptr;
}

ir::Value linear(ir::Program& p, Weights& w, std::int64_t layer, std::string_view name, ir::Value x, std::initializer_list<std::int64_t> shape) {
  const auto scope = p.scope(name);
  const ir::Value weight = w(layer, name, shape);
  return op::linear(p, x, weight, w.optional(layer, fmt::format("{}.bias", name), {*shape.begin()}));
}

ir::Value rope_angles(ir::Program& p, const Config& c, Weights& w, const Batch& b) {
  const std::optional<Tensor> factors = w.raw("rope_freqs");
  const RopeFrequencies f = rope_frequencies(c.rope, b.context, factors ? floats_of(*factors) : std::vector<float>{});
  return op::rope_angles(p, b.positions, w.constant("rope_frequencies", f.values), {.scale = f.scale});
}

}  // namespace ridge::model
