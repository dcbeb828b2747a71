#include "model/model.h"

#include <cstring>

#include "base/error.h"
#include "model/families.h"
#include "model/hf_names.h"

namespace ridge::model {
namespace {

// What is missing, as the files' own format calls it: "PATH: there is no tensor 'model.norm.weight' (output_norm)".
std::string missing(const Description& m, const std::string& name) {
  const bool hf = m.files && m.files->config.has_value();
  const std::string in_file = hf ? name_in_hf(m.config.architecture, name) : name + ".weight";
  return fmt::format("{}: there is no tensor '{}'{}", m.path, in_file, hf ? " (" + name + ")" : "");
}

std::optional<Tensor> find_tensor(const Description& m, const std::string& name, std::span<const std::int64_t> shape) {
  if (m.tied && name == "output") return std::nullopt;
  if (const auto found = m.tensors.find(name); found != m.tensors.end()) return found->second;
  const bool optional_part = shape.size() == 1 && name.ends_with(".bias");
  if (m.files || shape.empty() || optional_part) return std::nullopt;
  Tensor t{shape.size() == 1 ? DType::f32 : m.random_dtype, {shape.begin(), shape.end()}, {}, name};
  if (m.random && shape.size() == 1) t.bytes = m.random->vector(shape[0]);
  if (m.random && shape.size() > 1) {
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    t.bytes = m.random->matrix(t.dtype, rows, shape.back());
  }
  return t;
}

std::vector<std::byte> in_rows(const Tensor& t) {
  const std::int64_t rows = t.shape[0], columns = t.shape[1], size = info(t.dtype).block_bytes;
  std::vector<std::byte> out(std::size_t(rows * columns * size));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < columns; ++k)
      std::memcpy(out.data() + (r * columns + k) * size, t.bytes.data() + (k * t.transposed_row + r) * size,
                  std::size_t(size));
  return out;
}

}  // namespace

Recorded record(const Description& model, const RecordOptions& options) {
  const Config& c = model.config;
  const Family* family = find_family(c.architecture);
  if (!family) {
    std::string known;
    for (const Family& f : families()) known += (known.empty() ? "" : ", ") + std::string(f.architecture);
    fail_input("{}: the architecture '{}' is not supported; supported are {}", model.path, c.architecture, known);
  }
  Recorded r;
  ir::Program& p = r.program;
  r.batch.context = options.context;
  r.batch.tokens = p.input("tokens", DType::i32, {Symbol::tokens});
  r.batch.positions = p.input("positions", DType::i32, {Symbol::tokens});
  r.batch.slots = p.input("slots", DType::i32, {Symbol::tokens});
  r.batch.wanted = p.input("wanted", DType::i32, {Symbol::rows});
  r.batch.sequences.query_start = p.input("query_start", DType::i32, {Dim(Symbol::sequences, 1)});
  r.batch.sequences.context_len = p.input("context_len", DType::i32, {Symbol::sequences});
  r.batch.sequences.block_table = p.input("block_table", DType::i32, {Symbol::sequences, options.blocks_per_sequence});
  for (std::int64_t l = 0; l < c.layers; ++l)
    r.batch.kv.push_back(p.state(fmt::format("kv.{}", l), options.kv_dtype,
                                 {options.kv_blocks, 2, c.kv_heads, options.kv_block_size, c.head_dim}));

  Weights weights(
      p, [&](const std::string& name, std::span<const std::int64_t> shape) { return find_tensor(model, name, shape); },
      [&](const std::string& name) { return missing(model, name); });
  r.logits = family->forward(p, c, weights, r.batch);
  p.mark_output(r.logits, "logits");
  for (const auto& [name, tensor] : model.tensors)
    if (!weights.asked().contains(name))
      fail_input("{} is not known to the architecture '{}': the result would be wrong without it", tensor.from,
                 c.architecture);
  r.bindings = weights.take_bindings();
  return r;
}

void materialize(std::vector<Binding>& bindings) {
  for (Binding& b : bindings)
    if (b.tensor.transposed_row > 0 && !b.tensor.bytes.empty()) b.owned = in_rows(b.tensor);
}

std::vector<program::WeightSource> weight_sources(const Recorded& recorded) {
  const auto writable = [](const void* data) {
    return static_cast<std::byte*>(const_cast<void*>(data));
  };  // views are; weights are only read
  std::vector<program::WeightSource> sources;
  for (const Binding& b : recorded.bindings) {
    program::WeightSource source{
        b.value, {.dtype = DType::f32, .rank = 1, .dims = {std::int64_t(b.constant.size())}}, {}};
    const void* data = b.constant.data();
    if (b.constant.empty()) {
      source.rows.dtype = b.tensor.dtype;
      source.rows.rank = int(b.tensor.shape.size());
      for (int i = 0; i < source.rows.rank; ++i) source.rows.dims[i] = b.tensor.shape[std::size_t(i)];
      data = b.owned.empty() ? b.tensor.bytes.data() : b.owned.data();
    }
    source.rows.data = writable(data);
    for (const Tensor& slice : b.tensor.slices) source.slices.push_back(writable(slice.bytes.data()));
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace ridge::model
