#include "model/model.h"

#include "base/error.h"
#include "io/gguf.h"
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

void add_tensors(Description& d, const io::GgufPart& part) {
  for (const io::GgufTensor& t : part.header.tensors) {
    const std::string from = fmt::format("{}: tensor '{}'", part.file.name(), t.name);
    const io::GgmlType* type = io::ggml_type(t.type);
    if (!type || !type->dtype) {
      std::string known;
      for (const DTypeInfo& k : all_dtypes())
        if (io::ggml_type_of(k.id) && k.decode) known += (known.empty() ? "" : ", ") + std::string(k.name);
      fail_input("{} is of type {}, which ridge does not run; it runs {}", from, io::ggml_type_name(t.type), known);
    }
    d.tensors[without_weight(t.name)] = {*type->dtype, {t.shape.begin(), t.shape.begin() + t.rank}, part.file.subspan(t.offset, *t.bytes, t.name), from};
  }
}

}  // namespace

Description open(const std::filesystem::path& path) {
  auto files = std::make_shared<io::GgufFile>(io::open_gguf(path));
  Description d;
  d.path = path;
  d.config = config_from_gguf(*files);
  for (const io::GgufPart& part : files->parts) add_tensors(d, part);
  d.release = [files = files.get()](std::span<const std::byte> range) {
    for (const io::GgufPart& part : files->parts) {
      const auto all = part.file.bytes();
      if (range.data() >= all.data() && range.data() < all.data() + all.size()) part.file.release(range);
    }
  };
  d.files = files;
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
    if (model.files || shape.empty()) return std::nullopt;
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
