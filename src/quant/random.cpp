#include "quant/random.h"

#include <cmath>

#include "base/error.h"

namespace ridge::quant {
namespace {

std::uint64_t mixed(std::uint64_t v) {  // splitmix64 (Steele, Lea, Flood 2014)
  v += 0x9E3779B97F4A7C15u;
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9u;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBu;
  return v ^ (v >> 31);
}

std::uint64_t key_of(std::string_view name, std::uint64_t seed) {
  std::uint64_t key = mixed(seed);
  for (char c : name) key = mixed(key ^ std::uint64_t((unsigned char)c));
  return key;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

RandomTensor tensor_of(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  const bool bias = name.ends_with(".bias"), norm = has(name, "_norm") && !bias;
  RandomTensor t{bias ? name : name + ".weight", shape, {key_of(name, seed)}};
  const float root = std::sqrt(3 / float(shape.back()));  // uniform in +-a has variance a^2 / 3
  t.values.middle = norm ? 1 : 0;
  t.values.spread = norm || bias ? 0.125f : root;
  return t;
}

// Neighbours that files of the family hold as one: rows after rows.
void fuse(std::vector<RandomTensor>& list, std::string_view ending, std::initializer_list<std::string_view> parts) {
  std::vector<RandomTensor> out;
  for (RandomTensor& t : list) {
    std::size_t part = parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (t.name.starts_with("blk.") && t.name.ends_with("." + std::string(parts.begin()[i]))) part = i;
    if (part == parts.size()) {
      out.push_back(std::move(t));
    } else if (part == 0) {
      t.name.resize(t.name.size() - parts.begin()->size());
      t.name += ending;
      out.push_back(std::move(t));
    } else {
      out.back().shape[0] += t.shape[0];
    }
  }
  list = std::move(out);
}

// What a forward pass takes where a file has it, and files of these families have.
bool has_bias(std::string_view architecture, std::string_view name) {
  if (architecture == "gpt2") return name != "token_embd" && name != "position_embd" && name != "output";
  return architecture == "qwen2" && (has(name, "attn_q") || has(name, "attn_k") || has(name, "attn_v"));
}

}  // namespace

RandomValues RandomValues::of(std::int64_t slice) const {
  return {mixed(key + std::uint64_t(slice) + 1), middle, spread};
}

void RandomValues::read(std::int64_t begin, std::int64_t count, float* values) const {
  constexpr std::int64_t run = 1 << 16;  // values that share a key: the loop below then has 32-bit numbers alone
  while (count > 0) {
    const std::uint64_t run_key = mixed(key ^ std::uint64_t(begin / run));
    const auto a = std::uint32_t(run_key), b = std::uint32_t(run_key >> 32), first = std::uint32_t(begin % run);
    const std::int64_t n = std::min(count, run - begin % run);
    for (std::int64_t i = 0; i < n; ++i) {
      std::uint32_t x = (first + std::uint32_t(i)) * 0x9E3779B9u + a;  // mixed as by lowbias32 (Wellons)
      x = (x ^ (x >> 16)) * 0x7FEB352Du;
      x = (x ^ (x >> 15)) * 0x846CA68Bu;
      x ^= (x >> 16) ^ b;
      values[i] = middle + spread * (float(std::int32_t(x)) * 0x1p-31f);
    }
    begin += n, values += n, count -= n;
  }
}

std::vector<RandomTensor> random_tensors(const model::Description& shape, std::uint64_t seed) {
  if (shape.files) fail_bug("random tensors of a model that has a file");
  const std::string_view architecture = shape.config.architecture;
  std::vector<RandomTensor> list, biases;
  const model::Recorded recorded =
      model::record(shape, {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});
  for (const model::Binding& b : recorded.bindings) {
    if (!b.constant.empty()) continue;
    const std::string& name = b.tensor.from;
    list.push_back(tensor_of(name, b.tensor.shape, seed));
    if (has_bias(architecture, name)) biases.push_back(tensor_of(name + ".bias", {b.tensor.shape[0]}, seed));
  }
  list.insert(list.end(), biases.begin(), biases.end());
  if (architecture == "phi3" || architecture == "gpt2") {
    fuse(list, "attn_qkv.weight", {"attn_q.weight", "attn_k.weight", "attn_v.weight"});
    fuse(list, "attn_qkv.bias", {"attn_q.bias", "attn_k.bias", "attn_v.bias"});
  }
  if (architecture == "phi3") fuse(list, "ffn_up.weight", {"ffn_gate.weight", "ffn_up.weight"});
  return list;
}

}  // namespace ridge::quant
