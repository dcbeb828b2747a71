#include "model/hf_names.h"

#include <fmt/core.h>

#include <charconv>
#include <span>

namespace ridge::model {
namespace {

struct Row {
  std::string_view hf, ridge;
};

constexpr Row outside[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
};
constexpr Row in_layer[] = {
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate_up_proj", "ffn_gate_up"},
    {"mlp.gate", "ffn_gate_inp"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
};
// Norms before and after: these families say "post" where they mean it.
constexpr Row after_norms[] = {
    {"post_attention_layernorm", "post_attention_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
};
constexpr Row gpt2_outside[] = {
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"lm_head", "output"},
};
constexpr Row gpt2_in_layer[] = {
    {"ln_1", "attn_norm"}, {"attn.c_attn", "attn_qkv"}, {"attn.c_proj", "attn_output"},
    {"ln_2", "ffn_norm"},  {"mlp.c_fc", "ffn_up"},      {"mlp.c_proj", "ffn_down"},
};
constexpr Row in_expert[] = {
    // after "mlp.experts.N." and "block_sparse_moe.experts.N."
    {"gate_proj", "ffn_gate_exps"}, {"up_proj", "ffn_up_exps"}, {"down_proj", "ffn_down_exps"},
    {"w1", "ffn_gate_exps"},        {"w3", "ffn_up_exps"},      {"w2", "ffn_down_exps"},
};
// Buffers that old files carry along: computed from the configuration, and not read by the reference either.
constexpr std::string_view without_effect[] = {"self_attn.rotary_emb.inv_freq", "attn.bias", "attn.masked_bias"};
// Scales for activations and caches in FP8: ridge keeps both exact.
constexpr std::string_view unused_scales[] = {".input_scale", ".k_scale", ".v_scale"};

struct Tables {
  std::span<const Row> outside, special, layer;
};
Tables tables_of(std::string_view architecture) {
  if (architecture == "gpt2") return {gpt2_outside, {}, gpt2_in_layer};
  const bool after = architecture == "gemma2" || architecture == "gemma3" || architecture == "olmo2";
  return {outside, after ? std::span<const Row>(after_norms) : std::span<const Row>(), in_layer};
}

std::string_view look_up(std::span<const Row> rows, std::string_view hf) {
  for (const Row& r : rows)
    if (r.hf == hf) return r.ridge;
  return {};
}
std::string_view look_back(std::span<const Row> rows, std::string_view ridge) {
  for (const Row& r : rows)
    if (r.ridge == ridge) return r.hf;
  return {};
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "12.rest" -> 12, leaving "rest". Only as a program writes it: no sign, no leading zero.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::size_t length = std::size_t(end - text.data());
  if (error != std::errc() || n < 0 || length >= text.size() || text[length] != '.') return std::nullopt;
  if (fmt::format("{}", n).size() != length) return std::nullopt;
  text.remove_prefix(length + 1);
  return n;
}

// "q_proj.weight" -> "q_proj", with what ridge's name ends in: "", ".bias" or ".scale".
std::optional<std::string_view> take_ending(std::string_view& text) {
  for (const auto& [hf, ridge] : {Row{".weight", ""}, Row{".bias", ".bias"}, Row{".weight_scale", ".scale"}}) {
    if (!text.ends_with(hf)) continue;
    text.remove_suffix(hf.size());
    return ridge;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HfName> name_from_hf(std::string_view architecture, std::string_view hf) {
  const Tables tables = tables_of(architecture);
  std::string_view rest = hf;
  take_prefix(rest, architecture == "gpt2" ? "transformer." : "model.");
  if (!take_prefix(rest, architecture == "gpt2" ? "h." : "layers.")) {
    const auto ending = take_ending(rest);
    const std::string_view name = look_up(tables.outside, rest);
    if (!ending || name.empty()) return std::nullopt;
    return HfName{fmt::format("{}{}", name, *ending)};
  }
  const auto layer = take_number(rest);
  if (!layer) return std::nullopt;
  for (std::string_view known : without_effect)
    if (rest == known) return HfName{};
  for (std::string_view known : unused_scales)
    if (rest.ends_with(known)) return HfName{};
  HfName found;
  const auto ending = take_ending(rest);
  if (!ending) return std::nullopt;
  std::string_view name;
  if (take_prefix(rest, "mlp.experts.") || take_prefix(rest, "block_sparse_moe.experts.")) {
    const auto expert = take_number(rest);
    if (!expert || !ending->empty()) return std::nullopt;
    found.expert = *expert;
    name = look_up(in_expert, rest);
  } else {
    name = look_up(tables.special, rest);
    if (name.empty()) name = look_up(tables.layer, rest);
    found.transposed = architecture == "gpt2" && ending->empty() && rest.find(".c_") != rest.npos;
  }
  if (name.empty()) return std::nullopt;
  found.name = fmt::format("blk.{}.{}{}", *layer, name, *ending);
  return found;
}

std::string name_in_hf(std::string_view architecture, std::string_view name) {
  const Tables tables = tables_of(architecture);
  const bool gpt2 = architecture == "gpt2", bias = name.ends_with(".bias");
  if (bias) name.remove_suffix(5);
  const std::string_view ending = bias ? ".bias" : ".weight", root = gpt2 ? "transformer." : "model.";
  if (!take_prefix(name, "blk.")) {
    const std::string_view hf = look_back(tables.outside, name);
    return fmt::format("{}{}{}", hf == "lm_head" ? "" : root, hf.empty() ? name : hf, ending);
  }
  const auto layer = take_number(name);
  std::string_view hf = look_back(tables.special, name);
  if (hf.empty()) hf = look_back(tables.layer, name);
  if (hf.empty() && !look_back(in_expert, name).empty())
    return fmt::format("{}layers.{}.mlp.experts.0.{}{}", root, layer.value_or(0), look_back(in_expert, name), ending);
  return fmt::format("{}{}.{}.{}{}", root, gpt2 ? "h" : "layers", layer.value_or(0), hf.empty() ? name : hf, ending);
}

std::string expert_name_in_hf(std::string_view architecture, std::string_view name, std::int64_t expert) {
  take_prefix(name, "blk.");
  const auto layer = take_number(name);
  const bool mixtral = architecture == "llama";
  const std::span<const Row> rows(in_expert);  // Qwen's names, then Mixtral's
  const std::string_view hf = look_back(mixtral ? rows.subspan(3) : rows.first(3), name);
  return fmt::format("model.layers.{}.{}.experts.{}.{}.weight", layer.value_or(0), mixtral ? "block_sparse_moe" : "mlp",
                     expert, hf);
}

}  // namespace ridge::model
