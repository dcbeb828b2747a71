// What files hold, in ridge's words: names mapped, fused tensors cut into the ones that forward passes ask for (views
// of the same bytes), experts that lie apart gathered into one list.
#include "base/error.h"
#include "model/config_from_hf.h"
#include "model/gguf_config.h"
#include "model/hf_names.h"
#include "model/model.h"

namespace ridge::model {
namespace {

Tensor tensor_of(const io::ModelFiles& files, const io::TensorEntry& t) {
  const std::string from = fmt::format("{}: tensor '{}'", files.file_names[t.file], t.name);
  if (!t.dtype || !info(*t.dtype).decode) {
    std::string known;
    for (const DTypeInfo& k : all_dtypes())
      if (k.decode && k.id != DType::q8_act) known += (known.empty() ? "" : ", ") + std::string(k.name);
    fail_input("{} is of type {}, which ridge does not run; it runs {}", from, t.type, known);
  }
  return {*t.dtype, t.shape, files.bytes(t), from, &t};
}

std::int64_t elements(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t dim : shape) n *= dim;
  return n;
}

void add(Description& d, const std::string& name, Tensor tensor) {
  const auto found = d.tensors.find(name);
  if (found != d.tensors.end()) fail_input("{} is '{}', as is {}", tensor.from, name, found->second.from);
  d.tensors.emplace(name, std::move(tensor));
}

// Matrices of single experts, which some files hold as tensors of their own: by ridge's name, by number.
using Stacks = std::map<std::string, std::map<std::int64_t, Tensor>>;

void add_expert(Stacks& stacks, const std::string& name, std::int64_t expert, Tensor tensor) {
  const auto [at, is_new] = stacks[name].emplace(expert, tensor);
  if (!is_new) fail_input("{} is expert {} of '{}', as is {}", tensor.from, expert, name, at->second.from);
}

void add_stacks(Description& d, Stacks stacks) {
  for (auto& [name, experts] : stacks) {
    const Tensor& first = experts.begin()->second;
    Tensor stack{first.dtype, first.shape, {}, first.from};
    stack.shape.insert(stack.shape.begin(), d.config.experts);
    for (auto& [number, expert] : experts) {
      if (number != std::int64_t(stack.slices.size()))
        fail_input("{}: '{}' of expert {} is missing", d.path, name, stack.slices.size());
      if (expert.dtype != first.dtype || expert.shape != first.shape)
        fail_input("{} differs in type or shape from {}", expert.from, first.from);
      stack.slices.push_back(expert);
    }
    if (std::int64_t(stack.slices.size()) != d.config.experts)
      fail_input("{}: '{}' is there for {} experts, the configuration has {}", d.path, name, stack.slices.size(),
                 d.config.experts);
    add(d, name, std::move(stack));
  }
}

struct Piece {
  std::string_view name;
  std::int64_t rows;
};

Tensor rows_of(const Tensor& t, std::int64_t first, std::int64_t rows) {
  Tensor piece = t;
  piece.shape[0] = rows;
  const auto element = std::size_t(info(t.dtype).block_bytes);
  if (t.transposed_row > 0) {  // its rows are the file's columns
    piece.bytes = t.bytes.subspan(std::size_t(first) * element);
    return piece;
  }
  const std::size_t row = t.shape.size() == 1 ? element : std::size_t(row_bytes(t.dtype, t.shape[1]));
  piece.bytes = t.bytes.subspan(std::size_t(first) * row, std::size_t(rows) * row);
  return piece;
}

// Cuts a layer's fused tensor, its bias and its scales along their rows.
void cut(Description& d, const std::string& layer, std::string_view name, std::initializer_list<Piece> pieces) {
  std::int64_t rows = 0;
  for (const Piece& piece : pieces) rows += piece.rows;
  for (const char* ending : {"", ".bias", ".scale"}) {
    const auto found = d.tensors.find(fmt::format("{}{}{}", layer, name, ending));
    if (found == d.tensors.end()) continue;
    const Tensor whole = std::move(found->second);
    d.tensors.erase(found);
    if (whole.shape == std::vector<std::int64_t>{1} && rows > 1) {  // one scale for all
      for (const Piece& piece : pieces) add(d, fmt::format("{}{}{}", layer, piece.name, ending), whole);
      continue;
    }
    if (whole.shape.empty() || whole.shape.size() > 2 || whole.shape[0] != rows || !whole.slices.empty() ||
        (whole.shape.size() == 1 && is_block(whole.dtype)))
      fail_input("{} has {} rows; its parts together have {}", whole.from, whole.shape.empty() ? 0 : whole.shape[0],
                 rows);
    std::int64_t first = 0;
    for (const Piece& piece : pieces) {
      add(d, fmt::format("{}{}{}", layer, piece.name, ending), rows_of(whole, first, piece.rows));
      first += piece.rows;
    }
  }
}

void cut_fused(Description& d) {
  const Config& c = d.config;
  const bool gate_in_up = d.files->gguf() && c.architecture == "phi3";  // both in "ffn_up"
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const std::string layer = fmt::format("blk.{}.", l);
    cut(d, layer, "attn_qkv", {{"attn_q", c.q_columns()}, {"attn_k", c.kv_columns()}, {"attn_v", c.kv_columns()}});
    cut(d, layer, gate_in_up ? "ffn_up" : "ffn_gate_up", {{"ffn_gate", c.ffn}, {"ffn_up", c.ffn}});
  }
}

// GGUF's "blk.0.attn_q.weight" is ridge's "blk.0.attn_q"; biases keep their ending.
std::string without_weight(std::string_view name) {
  constexpr std::string_view ending = ".weight";
  if (name.size() > ending.size() && name.ends_with(ending)) name.remove_suffix(ending.size());
  return std::string(name);
}

// "blk.0.ffn_gate.3", as the first files of Mixtral had it -> "blk.0.ffn_gate_exps", 3. Empty: no such name.
std::optional<std::pair<std::string, std::int64_t>> old_expert(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot + 5 < name.size() || dot + 1 == name.size()) return std::nullopt;
  const std::string stem = name.substr(0, dot), digits = name.substr(dot + 1);
  if (digits.find_first_not_of("0123456789") != digits.npos || (digits.size() > 1 && digits[0] == '0'))
    return std::nullopt;
  for (const char* ending : {".ffn_gate", ".ffn_up", ".ffn_down"})
    if (stem.starts_with("blk.") && stem.ends_with(ending))
      return std::pair(stem + "_exps", std::int64_t(std::stoi(digits)));
  return std::nullopt;
}

// Longrope's factors, which GGUF keeps as tensors.
void take_rope_factors(Description& d, const std::string& name, std::vector<float>& factors) {
  const auto found = d.tensors.find(name);
  if (found == d.tensors.end()) return;
  const Tensor t = std::move(found->second);
  d.tensors.erase(found);
  if (t.shape != std::vector<std::int64_t>{d.config.rope.dims / 2} || is_block(t.dtype))
    fail_input("{} must hold one number for each of the {} rotated pairs", t.from, d.config.rope.dims / 2);
  factors.resize(std::size_t(t.shape[0]));
  info(t.dtype).decode(t.bytes.data(), factors.data(), t.shape[0]);
  d.config.rope.scaling.kind = RopeScaling::Kind::longrope;
  if (d.config.rope.scaling.original_context == 0)
    fail_input("{} needs the key '{}.rope.scaling.original_context_length'", t.from, d.config.architecture);
}

void open_gguf(Description& d) {
  d.config = config_from_gguf(*d.files);
  Stacks stacks;
  for (const io::TensorEntry& t : d.files->tensors) {
    const std::string name = without_weight(t.name);
    if (const auto expert = old_expert(name)) add_expert(stacks, expert->first, expert->second, tensor_of(*d.files, t));
    else add(d, name, tensor_of(*d.files, t));
  }
  add_stacks(d, std::move(stacks));
  take_rope_factors(d, "rope_factors_short", d.config.rope.scaling.short_factors);
  take_rope_factors(d, "rope_factors_long", d.config.rope.scaling.long_factors);
}

void open_hf(Description& d) {
  if (!d.files->without_weights.empty()) fail_input("{}: a model is wanted; {}", d.path, d.files->without_weights);
  const HfDescription said = config_from_hf(*d.files->config);
  d.config = said.config;
  d.tied = said.tied;
  Stacks stacks;
  for (const io::TensorEntry& t : d.files->tensors) {
    const auto name = name_from_hf(d.config.architecture, t.name);
    if (!name)
      fail_input("{}: tensor '{}' is not known to the architecture '{}': the result would be wrong without it",
                 d.files->file_names[t.file], t.name, d.config.architecture);
    if (name->name.empty() || (d.tied && name->name == "output"))
      continue;  // a tied head is the embedding, as the reference has it
    Tensor tensor = tensor_of(*d.files, t);
    if (name->transposed && tensor.shape.size() == 2) {
      tensor.transposed_row = tensor.shape[1];
      std::swap(tensor.shape[0], tensor.shape[1]);
    }
    if (name->name.ends_with(".scale")) tensor.shape = {elements(tensor.shape)};  // (), (1), (N) or (N, 1)
    if (name->expert >= 0) add_expert(stacks, name->name, name->expert, std::move(tensor));
    else add(d, name->name, std::move(tensor));
  }
  add_stacks(d, std::move(stacks));
  if (!d.tied && !d.tensors.contains("output"))
    fail_input(
        "{}: there is no tensor 'lm_head.weight', and config.json does not tie the head to the embedding "
        "(tie_word_embeddings)",
        d.path);
}

}  // namespace

Description open(const std::filesystem::path& path) {
  Description d;
  d.path = path;
  d.files = std::make_shared<const io::ModelFiles>(io::ModelFiles::open(path));
  switch (d.files->kind) {
    case io::FileKind::gguf: open_gguf(d); break;
    case io::FileKind::hf_folder: open_hf(d); break;
    case io::FileKind::safetensors:
      fail_input("{}: these are weights alone; name the folder that holds their config.json, too", d.path);
    default: fail_input("{}: a model is wanted; this is {}", d.path, name(d.files->kind));
  }
  cut_fused(d);
  return d;
}

}  // namespace ridge::model
