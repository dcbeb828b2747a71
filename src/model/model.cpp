#include "model/model.h"

#include "base/error.h"
#include "model/families.h"
#include "model/gguf_config.h"

namespace ridge::model {
namespace {

// GGUF's "blk.0.attn_q.weight" is ridge's "blk.0.attn_q"; biases keep their ending.
std::string without_weight(std::string_view name) {
  constexpr std::string_view ending = ".weight";
  if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) name.remove_suffix(ending.size());
  return std::string(name);
}

void add_tensors(Description& d) {
  for (const io::TensorEntry& t : d.files->tensors) {
    const std::string from = fmt::format("{}: tensor '{}'", d.files->file_names[t.file], t.name);
    if (!t.dtype || !info(*t.dtype).decode) {
      std::string known;
      for (const DTypeInfo& k : all_dtypes())
        if (k.decode && k.id != DType::q8_act) known += (known.empty() ? "" : ", ") + std::string(k.name);
      fail_input("{} is of type {}, which ridge does not run; it runs {}", from, t.type, known);
    }
    d.tensors[without_weight(t.name)] = {*t.dtype, t.shape, d.files->bytes(t), from, &t};
  }
}

}  // namespace

Description open(const std::filesystem::path& path) {
  Description d;
  d.path = path;
  d.files = std::make_shared<const io::ModelFiles>(io::ModelFiles::open(path));
  if (d.files->kind != io::FileKind::gguf) fail_input("{}: a model is wanted; this is {}", d.path, name(d.files->kind));
  d.config = config_from_gguf(*d.files);
  add_tensors(d);
  return d;
}

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
    r.batch.kv.push_back(p.state(fmt::format("kv.{}", l), options.kv_dtype, {options.kv_blocks, 2, c.kv_heads, options.kv_block_size, c.head_dim}));

  Weights weights(p, [&](const std::string& name, std::span<const std::int64_t> shape) -> std::optional<Tensor> {
    if (const auto found = model.tensors.find(name); found != model.tensors.end()) return found->second;
    const bool optional_part = shape.size() == 1 && name.ends_with(".bias");
    if (model.files || shape.empty() || optional_part || (model.tied && name == "output")) return std::nullopt;
    return Tensor{shape.size() == 1 ? DType::f32 : model.random_dtype, {shape.begin(), shape.end()}, {}, name};
  });
  r.logits = family->forward(p, c, weights, r.batch);
  p.mark_output(r.logits, "logits");
  for (const auto& [name, tensor] : model.tensors)
    if (!weights.asked().contains(name)) fail_input("{} is not known to the architecture '{}': the result would be wrong without it", tensor.from, c.architecture);
  r.bindings = weights.take_bindings();
  return r;
}

std::vector<program::WeightSource> weight_sources(const Recorded& recorded) {
  std::vector<program::WeightSource> sources;
  for (const Binding& b : recorded.bindings) {
    View view{.dtype = DType::f32, .rank = 1, .dims = {std::int64_t(b.constant.size())}};
    const void* data = b.constant.data();
    if (b.constant.empty()) {
      view.dtype = b.tensor.dtype;
      view.rank = int(b.tensor.shape.size());
      for (int i = 0; i < view.rank; ++i) view.dims[i] = b.tensor.shape[std::size_t(i)];
      data = b.tensor.bytes.data();
    }
    view.data = static_cast<std::byte*>(const_cast<void*>(data));  // views are of mutable memory; weights are only read
    sources.push_back({b.value, view});
  }
  return sources;
}

}  // namespace ridge::model
