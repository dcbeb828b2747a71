// A Hugging Face folder's tensors as GGUF files have them: names, experts stacked, query and key rows in the order of
// GGUF's rope, Gemma's norms with their 1, Conv1D weights as rows, FP8's scales multiplied in.
#include <map>

#include "base/error.h"
#include "model/gguf_config.h"
#include "model/hf_names.h"
#include "quant/plan.h"

namespace ridge::quant {
namespace {

using model::Config;

// "blk.0.attn_q" -> "blk.0.attn_q.weight", "blk.0.attn_q.bias" as it is.
std::string gguf_name(const Config& c, std::string_view name) {
  if (name.ends_with(".bias")) return std::string(name);
  constexpr std::string_view gate_up = "ffn_gate_up";
  if (c.architecture == "phi3" && name.ends_with(gate_up))  // both in "ffn_up"
    return fmt::format("{}ffn_up.weight", name.substr(0, name.size() - gate_up.size()));
  return fmt::format("{}.weight", name);
}

bool is_of(std::string_view name, std::string_view part) {  // its weight or its bias
  return name.ends_with(fmt::format(".{}", part)) || name.ends_with(fmt::format(".{}.bias", part));
}

void arrange(const Config& c, const model::HfName& name, PlannedTensor& t) {
  if (model::turns_pairs_in_gguf(c.architecture)) {
    if (is_of(name.name, "attn_q")) t.turned_heads = c.heads;
    if (is_of(name.name, "attn_k")) t.turned_heads = c.kv_heads;
    t.turned_rows = c.rope.dims;
  }
  t.transposed = name.transposed && t.spec.shape.size() == 2;
  if (t.transposed) std::swap(t.spec.shape[0], t.spec.shape[1]);
  if (c.norm_offset != 0 && t.spec.name.ends_with("_norm.weight")) t.add = c.norm_offset;
}

class Planner {
 public:
  Planner(const model::Description& model, TypeChooser& types) : model_(model), files_(*model.files), types_(types) {}

  std::vector<PlannedTensor> plan() {
    for (const io::TensorEntry& t : files_.tensors) take(t);
    for (auto& [name, experts] : stacks_) {  // model::open has seen that all are there, alike
      PlannedTensor& p = plan_[places_.at(name)];
      for (const auto& [number, entry] : experts) p.sources.push_back(entry);
      p.spec.shape.insert(p.spec.shape.begin(), std::int64_t(experts.size()));
    }
    for (PlannedTensor& p : plan_) finish(p);
    add_head();
    add_rope_factors();
    return std::move(plan_);
  }

 private:
  void take(const io::TensorEntry& t) {
    const model::HfName name = *model::name_from_hf(model_.config.architecture, t.name);
    if (name.name.empty() || name.name.ends_with(".scale") || (model_.tied && name.name == "output")) return;
    const std::string gguf = gguf_name(model_.config, name.name);
    const auto [place, is_new] = places_.emplace(gguf, plan_.size());
    if (name.expert >= 0) stacks_[gguf][name.expert] = &t;
    if (!is_new) return;
    PlannedTensor p{.spec = {gguf, *t.dtype, t.shape}};
    if (name.expert < 0) p.sources = {&t};
    arrange(model_.config, name, p);
    plan_.push_back(std::move(p));
  }

  void finish(PlannedTensor& p) {
    const io::TensorEntry& source = *p.sources.front();
    if (source.dtype == DType::f8_e4m3) {
      if (const io::TensorEntry* scale = files_.find(source.name + "_scale"))
        p.scales = scales_of(files_, *scale, p.spec.shape.front());
      p.spec.dtype = DType::bf16;  // GGUF has no FP8
    }
    if (stays_exact(p.spec.name, p.spec.shape.size())) p.spec.dtype = DType::f32;
    else if (const auto type =
                 types_.choose(p.spec.name, p.spec.shape, p.spec.dtype, is_head(p.spec.name, !model_.tied)))
      p.spec.dtype = *type;
  }

  // llama.cpp wants a head of its own in these files, tied or not.
  void add_head() {
    if (!model_.tied || model_.config.architecture != "olmo2") return;
    PlannedTensor head = plan_.at(places_.at("token_embd.weight"));
    head.spec.name = "output.weight";
    plan_.push_back(std::move(head));
  }

  void add_rope_factors() {
    for (auto& [name, values] : model::gguf_rope_factors(model_.config)) {
      const auto count = std::int64_t(values.size());
      plan_.push_back({.spec = {name, DType::f32, {count}}, .values = std::move(values)});
    }
  }

  const model::Description& model_;
  const io::ModelFiles& files_;
  TypeChooser& types_;
  std::vector<PlannedTensor> plan_;
  std::map<std::string, std::size_t> places_;                                     // in plan_, by GGUF's name
  std::map<std::string, std::map<std::int64_t, const io::TensorEntry*>> stacks_;  // by GGUF's name and number
};

}  // namespace

std::vector<PlannedTensor> plan_gguf_from_hf(const model::Description& model, TypeChooser& types) {
  return Planner(model, types).plan();
}

}  // namespace ridge::quant
