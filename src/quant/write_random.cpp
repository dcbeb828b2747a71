// Random weights as a GGUF file or as a Hugging Face folder.
#include <algorithm>

#include "base/error.h"
#include "io/hf_folder_write.h"
#include "model/gguf_config.h"
#include "model/hf_config_write.h"
#include "model/hf_names.h"
#include "quant/target.h"
#include "quant/text_pairs.h"

namespace ridge::quant {
namespace fs = std::filesystem;
namespace {

void to_gguf(const model::Description& shape, const fs::path& out, const ConvertOptions& options, std::uint64_t seed,
             Converted& done, ThreadPool& pool) {
  check_file(out, options.overwrite);
  TypeChooser types(options, done.notes);
  GgufPlan plan;
  for (const RandomTensor& t : random_tensors(shape, seed)) {
    PlannedTensor p{.spec = {t.name, DType::f32, t.shape}, .random = t.values};
    if (const auto type = types.choose(t.name, t.shape, DType::f32, is_head(t.name, !shape.tied))) p.spec.dtype = *type;
    plan.tensors.push_back(std::move(p));
  }
  types.finish();
  for (auto& [name, values] : model::gguf_rope_factors(shape.config)) {
    const auto n = std::int64_t(values.size());
    plan.tensors.push_back({.spec = {name, DType::f32, {n}}, .values = std::move(values)});
  }
  model::put_gguf_config(shape.config, plan.pairs);
  put_type(plan.tensors, plan.pairs);
  put_byte_tokenizer(shape.config.vocab, plan.pairs);
  write_gguf(nullptr, out, plan, done, pool);
}

// "blk.0.attn_q.weight" -> "blk.0.attn_q"; biases keep their ending.
std::string ridge_name(const model::Config& c, std::string name) {
  constexpr std::string_view ending = ".weight", up = ".ffn_up";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  if (c.architecture == "phi3" && name.ends_with(up)) name.replace(name.size() - up.size(), up.size(), ".ffn_gate_up");
  return name;
}

// A tensor as such folders have it: experts apart, GPT-2's weights turned, Gemma's norms without their 1.
void add_in_hf(const model::Config& c, const RandomTensor& t, DType type, std::vector<PlannedTensor>& plan) {
  const std::string ridge = ridge_name(c, t.name);
  PlannedTensor p{.spec = {model::name_in_hf(c.architecture, ridge), type, t.shape}, .random = t.values};
  if (t.shape.size() == 3) {
    p.spec.shape.erase(p.spec.shape.begin());
    for (std::int64_t expert = 0; expert < c.experts; ++expert) {
      p.spec.name = model::expert_name_in_hf(c.architecture, ridge, expert);
      p.random = t.values.of(expert);
      plan.push_back(p);
    }
    return;
  }
  const auto back = model::name_from_hf(c.architecture, p.spec.name);
  if (!back || back->name != ridge) fail_bug("tensor {} has no name in Hugging Face files", ridge);
  if (back->transposed && t.shape.size() == 2) std::swap(p.spec.shape[0], p.spec.shape[1]);
  if ((c.architecture == "gemma2" || c.architecture == "gemma3") && t.name.ends_with("_norm.weight"))
    p.random->middle -= 1;
  plan.push_back(std::move(p));
}

void to_folder(const model::Description& shape, const fs::path& out, const ConvertOptions& options, std::uint64_t seed,
               Converted& done, ThreadPool& pool) {
  check_type_for_safetensors(out, options);
  const DType type = options.type.value_or(DType::f32);
  std::vector<PlannedTensor> plan;
  for (const RandomTensor& t : random_tensors(shape, seed)) add_in_hf(shape.config, t, type, plan);
  NewFolder folder(out);
  write_safetensors(nullptr, folder.path() / "model.safetensors", plan, done, pool);
  if (done.interrupted) return;
  std::error_code named;  // a shape is a name, or a config.json
  if (fs::is_regular_file(shape.path, named)) io::write_hf_config(shape.path, folder.path() / "config.json", type);
  else io::write_text_file(folder.path() / "config.json", model::hf_config_text(shape.config, shape.tied, type));
  const text::TokenizerSpec tokenizer = byte_tokenizer();
  if (shape.config.vocab >= std::int64_t(tokenizer.pieces.size())) io::write_hf_tokenizer(folder.path(), tokenizer);
  folder.finish();
}

}  // namespace

Converted write_random(const model::Description& shape, const fs::path& out, const ConvertOptions& options,
                       std::uint64_t seed, ThreadPool& pool) {
  Converted done;
  if (out.extension() == ".gguf") to_gguf(shape, out, options, seed, done, pool);
  else if (out.extension() == ".safetensors")
    fail_input("{}: weights alone do not run; name a folder, which gets its config.json, too, or a .gguf",
               out.string());
  else to_folder(shape, out, options, seed, done, pool);
  return done;
}

}  // namespace ridge::quant
