#include "quant/plan.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/quote.h"

namespace ridge::quant {
namespace {

// Matrices that llama.cpp keeps exact: small, or read where its kernels want floats.
constexpr std::string_view exact_parts[] = {
    "_norm.weight", "ffn_gate_inp", "position_embd",  "token_types", "ssm_conv1d", "ssm_a", "ssm_d",
    "time_mix_",    "attn_rel_b",   "shortconv.conv", "altup",       "laurel",     "rope_f"};

DType smaller_blocks(DType type) {
  switch (type) {
    case DType::q4_k: return DType::q5_0;
    case DType::q5_k: return DType::q5_1;
    case DType::q6_k: return DType::q8_0;
    default: return DType::f16;
  }
}

// '*' is any text, '?' any character. On a mismatch the last '*' takes one more: linear but for that.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1, t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

// ggml's number, or none.
std::optional<std::uint32_t> file_type_of(DType type) {  // llama.h: enum llama_ftype
  switch (type) {
    case DType::f32: return 0;
    case DType::f16: return 1;
    case DType::q4_0: return 2;
    case DType::q4_1: return 3;
    case DType::q8_0: return 7;
    case DType::q5_0: return 8;
    case DType::q5_1: return 9;
    case DType::q2_k: return 10;
    case DType::q3_k: return 12;  // "medium", the usual mixture
    case DType::q4_k: return 14;  // "small": not the mixture that "medium" is
    case DType::q5_k: return 16;
    case DType::q6_k: return 18;
    case DType::iq4_nl: return 25;
    case DType::iq4_xs: return 30;
    case DType::bf16: return 32;
    case DType::mxfp4: return 38;
    default: return std::nullopt;
  }
}

}  // namespace

bool PlannedTensor::as_stored() const {
  if (sources.empty() || turned_heads > 0 || transposed || add != 0 || !scales.empty()) return false;
  return std::all_of(sources.begin(), sources.end(),
                     [&](const io::TensorEntry* t) { return spec.foreign || t->dtype == spec.dtype; });
}

bool stays_exact(std::string_view name, std::size_t rank) {
  if (rank < 2 || !name.ends_with(".weight")) return true;
  return std::any_of(std::begin(exact_parts), std::end(exact_parts),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool is_head(std::string_view name, bool has_output) {
  return name == (has_output ? "output.weight" : "token_embd.weight");
}

std::uint32_t file_type(DType type) {
  const auto number = file_type_of(type);
  if (!number) fail_bug("no GGUF file is mostly {}", name(type));
  return *number;
}

std::optional<DType> main_type(std::span<const PlannedTensor> plan) {
  std::map<DType, std::uint64_t> bytes;
  for (const PlannedTensor& t : plan)
    if (!t.spec.foreign && t.spec.shape.size() > 1 && file_type_of(t.spec.dtype))
      bytes[t.spec.dtype] += io::stored_bytes(t.spec);
  std::optional<DType> most;
  for (const auto& [type, n] : bytes)
    if (!most || n > bytes[*most]) most = type;
  return most;
}

std::optional<DType> TypeChooser::wanted(std::string_view name, bool head, std::int64_t columns) {
  for (std::size_t i = options_.rules.size(); i-- > 0;) {
    if (!matches(options_.rules[i].pattern, name)) continue;
    used_[i] = true;
    return options_.rules[i].type;
  }
  if (!options_.type || !head || options_.head == HeadType::same || !is_block(*options_.type) ||
      options_.type == DType::q8_0)
    return options_.type;
  return columns % info(DType::q6_k).block_elems == 0 ? DType::q6_k : DType::q8_0;
}

std::optional<DType> TypeChooser::choose(std::string_view name, std::span<const std::int64_t> shape,
                                         std::optional<DType> stored, bool head) {
  const bool exact = stays_exact(name, shape.size());
  if (exact && !options_.type) return std::nullopt;
  const std::optional<DType> want = exact ? DType::f32 : wanted(name, head, shape.back());
  if (!want || want == stored) return std::nullopt;
  if (!stored || !info(*stored).decode) {
    note("stay as they are: ridge cannot read values of their type", name);
    return std::nullopt;
  }
  DType type = *want;
  while (shape.back() % info(type).block_elems != 0) type = smaller_blocks(type);
  if (type != *want)
    note(fmt::format("have rows of {}, which {}'s blocks of {} do not divide: they become {}", shape.back(),
                     ridge::name(*want), info(*want).block_elems, ridge::name(type)),
         name);
  if (is_block(*stored) && is_block(type) && type != stored)
    note("were quantized before and are quantized again: what was lost stays lost, and more is lost", name);
  return type == stored ? std::nullopt : std::optional(type);
}

void TypeChooser::note(std::string what, std::string_view name) {
  Some& some = said_[std::move(what)];
  if (some.count++ == 0) some.first = name;
}

void TypeChooser::finish() {
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (!used_[i]) fail_input("--tensor {}: no matrix has such a name", io::quote(options_.rules[i].pattern));
  for (const auto& [what, some] : said_)
    notes_.push_back(
        fmt::format("{} tensors ({}{}) {}", some.count, io::quote(some.first), some.count > 1 ? ", ..." : "", what));
}

namespace {

bool decodes(const io::TensorEntry& t) { return t.dtype && info(*t.dtype).decode; }

io::TensorSpec as_it_is(const io::ModelFiles& files, const io::TensorEntry& t) {
  if (t.dtype) return {t.name, *t.dtype, t.shape};
  const io::GgmlType* type = io::ggml_type_named(t.type);
  if (!type || !t.bytes)
    fail_input("{}: tensor {} is of type {}, whose size is not known", files.file_names[t.file], io::quote(t.name),
               t.type);
  return {t.name, DType::u8, t.shape, type};
}

}  // namespace

std::vector<PlannedTensor> plan_gguf(const io::ModelFiles& files, TypeChooser& types) {
  const bool has_output = files.find("output.weight") != nullptr;
  std::vector<PlannedTensor> plan;
  for (const io::TensorEntry& t : files.tensors) {
    PlannedTensor p{.spec = as_it_is(files, t), .sources = {&t}};
    if (const auto type = types.choose(t.name, t.shape, t.dtype, is_head(t.name, has_output))) p.spec.dtype = *type;
    plan.push_back(std::move(p));
  }
  return plan;
}

std::vector<float> scales_of(const io::ModelFiles& files, const io::TensorEntry& scale, std::int64_t rows) {
  std::int64_t count = 1;
  for (std::int64_t n : scale.shape) count *= n;
  if (!decodes(scale) || (count != 1 && count != rows))
    fail_input("{}: tensor {} must hold one scale, or one for each of {} rows", files.file_names[scale.file],
               io::quote(scale.name), rows);
  std::vector<float> scales(std::size_t(count), 0.0f);
  info(*scale.dtype).decode(files.bytes(scale).data(), scales.data(), count);
  return scales;
}

std::vector<PlannedTensor> plan_safetensors(const io::ModelFiles& files, std::optional<DType> type) {
  std::vector<PlannedTensor> plan;
  for (const io::TensorEntry& t : files.tensors) {
    const bool scale = t.name.ends_with("_scale");  // FP8's go into the weights that they belong to
    if (scale && type) continue;
    PlannedTensor p{.spec = as_it_is(files, t), .sources = {&t}};
    if (type && decodes(t)) p.spec.dtype = *type;
    if (type && t.dtype == DType::f8_e4m3)
      if (const io::TensorEntry* s = files.find(t.name + "_scale"))
        p.scales = scales_of(files, *s, t.shape.empty() ? 1 : t.shape[0]);
    if (p.spec.foreign || is_block(p.spec.dtype))
      fail_input("{}: tensor {} is of type {}, which safetensors cannot hold; --type F32, F16 or BF16 can be written",
                 files.file_names[t.file], io::quote(t.name), t.type);
    plan.push_back(std::move(p));
  }
  return plan;
}

}  // namespace ridge::quant
