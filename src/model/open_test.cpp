// Models that are not what their files say, or that ridge does not have: each is refused, naming file and culprit.
#include <cmath>

#include "io/gguf_write.h"
#include "io/hostile_files_test.h"
#include "model/generation_defaults.h"
#include "model/model.h"

namespace ridge::model {
namespace {
namespace fs = std::filesystem;
using io::error_of;
using io::read_bytes;
using io::TempFolder;
using io::write_bytes;

const fs::path goldens = fs::path(RIDGE_SOURCE_DIR) / "tests/goldens";

// A copy of a golden model whose config.json has one text in place of another.
struct Changed {
  TempFolder folder;
  Changed(const std::string& model, std::string_view from, std::string_view to) {
    for (const auto& file : fs::directory_iterator(goldens / "models" / model))
      if (file.path().filename() != "golden.safetensors") fs::copy(file.path(), folder.path());
    std::string text = read_bytes(folder / "config.json");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    write_bytes(folder / "config.json", text.replace(at, from.size(), to));
  }
  std::string error() const {
    return error_of([&] {
      record(open(folder.path()), {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});
    });
  }
};

std::string error_of_change(const std::string& model, std::string_view from, std::string_view to) {
  return Changed(model, from, to).error();
}

TEST(open, what_ridge_does_not_know_is_named) {
  EXPECT_HAS(error_of_change("llama3", "\"mlp_bias\"", "\"clip_qkv\": 8.0, \"mlp_bias\""),
             "config.json: key 'clip_qkv' is not known to ridge");
  EXPECT_HAS(error_of_change("llama3", "\"llama\"", "\"deepseek_v3\""),
             "key 'model_type' is 'deepseek_v3'; supported are llama, mistral");
  EXPECT_HAS(error_of_change("llama3", "\"rope_type\": \"llama3\"", "\"rope_type\": \"dynamic\""),
             "'rope_parameters.rope_type' is 'dynamic'; supported are");
  EXPECT_HAS(error_of_change("llama3", "\"rope_theta\"", "\"warp\": 2, \"rope_theta\""),
             "key 'rope_parameters.warp' is not known");
  EXPECT_HAS(error_of_change("llama3", "\"silu\"", "\"relu\""), "key 'hidden_act' is 'relu'; only 'silu'");
  EXPECT_HAS(error_of_change("qwen3", "\"full_attention\"", "\"linear_attention\""),
             "key 'layer_types' has 'linear_attention'");
  EXPECT_HAS(error_of_change("qwen3_moe", "\"mlp_only_layers\": []", "\"mlp_only_layers\": [1]"),
             "key 'mlp_only_layers' is not empty");
  EXPECT_HAS(error_of_change("gpt2", "\"gelu_new\"", "\"relu\""), "key 'activation_function' is 'relu'");
}

TEST(open, shapes_that_disagree_with_the_configuration) {
  const std::string table =
      "tensor 'model.embed_tokens.weight' has the shape (512, 64), the model's configuration wants ";
  EXPECT_HAS(error_of_change("llama3", "\"vocab_size\": 512", "\"vocab_size\": 520"), table + "(520, 64)");
  EXPECT_HAS(error_of_change("llama3", "\"vocab_size\": 512", "\"vocab_size\": 500"), table + "(500, 64)");
  EXPECT_HAS(error_of_change("llama3", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 4"),
             "there is no tensor 'model.layers.3.input_layernorm.weight'");
  EXPECT_HAS(error_of_change("llama3", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 2"),
             "tensor 'model.layers.2.");
  EXPECT_HAS(error_of_change("llama3", "\"head_dim\": 16", "\"head_dim\": 32"),
             "model.layers.0.self_attn.q_proj.weight' has the shape (64, 64)");
  EXPECT_HAS(error_of_change("phi3", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4"),
             "self_attn.qkv_proj.weight' has 80 rows; its parts together have 120");
  EXPECT_HAS(error_of_change("mixtral", "\"num_local_experts\": 4", "\"num_local_experts\": 5"),
             "is there for 4 experts, the configuration has 5");
  EXPECT_HAS(error_of_change("mixtral", "\"num_local_experts\": 4", "\"num_local_experts\": 3"),
             "is there for 4 experts, the configuration has 3");
  EXPECT_HAS(error_of_change("gpt2", "\"n_positions\": 256", "\"n_positions\": 512"),
             "transformer.wpe.weight' has the shape (256, 64)");
}

TEST(open, numbers_out_of_range) {
  EXPECT_HAS(error_of_change("llama3", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 1000000000"),
             "'num_hidden_layers' is 1000000000; accepted is 1 to");
  EXPECT_HAS(error_of_change("llama3", "\"hidden_size\": 64", "\"hidden_size\": -64"), "key 'hidden_size' is -64");
  EXPECT_HAS(error_of_change("llama3", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
             "which does not divide the 4 heads");
  EXPECT_HAS(error_of_change("llama3", "\"factor\": 8.0", "\"factor\": 0"),
             "'rope_parameters.factor' is 0; accepted is more than 0");
  for (const char* eps : {"-1", "0", "1e300"})
    EXPECT_HAS(error_of_change("llama3", "\"rms_norm_eps\": 1e-06", fmt::format("\"rms_norm_eps\": {}", eps)),
               "accepted is more than 0 and less than 1");
  EXPECT_HAS(error_of_change("phi3_longrope", "1.5,", ""),
             "'rope_scaling.long_factor' has 5 factors; the model rotates 6 pairs");
  EXPECT_HAS(error_of_change("phi3_longrope", "\"partial_rotary_factor\": 0.75", "\"partial_rotary_factor\": 1.5"),
             "key 'partial_rotary_factor'");
  EXPECT_HAS(error_of_change("qwen3_moe", "\"num_experts_per_tok\": 3", "\"num_experts_per_tok\": 9"),
             "key 'num_experts_per_tok' is 9; accepted is 1 to 8");
}

TEST(open, heads_tied_and_not) {
  EXPECT_HAS(error_of_change("qwen2", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"),
             "there is no tensor 'lm_head.weight'");
  const Changed tied("llama3", "\"tie_word_embeddings\": false",
                     "\"tie_word_embeddings\": true");  // and lm_head there: not read
  const Recorded r =
      record(open(tied.folder.path()), {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});
  for (const Binding& b : r.bindings) EXPECT_EQ(b.tensor.from.find("lm_head"), std::string::npos);
}

TEST(open, weights_or_configuration_alone) {
  EXPECT_HAS(error_of([] { open(goldens / "models/llama3/model.safetensors"); }), "weights alone; name the folder");
  TempFolder folder;
  fs::copy(goldens / "models/llama3/config.json", folder.path());
  EXPECT_HAS(error_of([&] { open(folder.path()); }), "a model is wanted; it holds no .safetensors file");
}

// A GGUF file of a Llama of one layer, with one more key or tensor, or one renamed.
struct SmallGguf {
  TempFolder folder;
  io::GgufPairs pairs;
  std::vector<io::TensorSpec> tensors;
  SmallGguf() {
    pairs.put_string("general.architecture", "llama");
    constexpr std::pair<const char*, std::uint32_t> sizes[] = {{"block_count", 1},
                                                               {"embedding_length", 32},
                                                               {"feed_forward_length", 32},
                                                               {"context_length", 64},
                                                               {"attention.head_count", 2}};
    for (const auto& [key, value] : sizes) pairs.put_u32(std::string("llama.") + key, value);
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      tensors.push_back({fmt::format("blk.0.{}.weight", name), DType::f32, {32, 32}});
    for (const char* name : {"blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"})
      tensors.push_back({fmt::format("{}.weight", name), DType::f32, {32}});
    tensors.push_back({"token_embd.weight", DType::f32, {40, 32}});
  }
  void load() const {
    const fs::path path = folder / "model.gguf";
    io::GgufWriter writer(path, pairs, tensors);
    for (const io::TensorSpec& t : tensors) writer.append(std::vector<std::byte>(io::stored_bytes(t)));
    writer.finish();
    record(open(path), {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});
  }
  std::string error() const {
    return error_of([&] { load(); });
  }
};

TEST(open, gguf_keys_and_tensors) {
  EXPECT_NO_THROW(SmallGguf().load());
  SmallGguf key;
  key.pairs.put_f32("llama.attention.clamp_kqv", 8);
  EXPECT_HAS(key.error(), "key 'llama.attention.clamp_kqv': ridge does not know this key");
  SmallGguf tensor;
  tensor.tensors.push_back({"blk.0.attn_sinks.weight", DType::f32, {2}});
  EXPECT_HAS(tensor.error(), "tensor 'blk.0.attn_sinks.weight' is not known to the architecture 'llama'");
  SmallGguf missing;
  missing.tensors.erase(missing.tensors.begin());
  EXPECT_HAS(missing.error(), "model.gguf: there is no tensor 'blk.0.attn_q.weight'");
  SmallGguf vocabulary;
  vocabulary.pairs.put_u32("llama.vocab_size", 48);
  EXPECT_HAS(vocabulary.error(), "'token_embd.weight' has 40 rows, key 'llama.vocab_size' says 48");
  for (float eps : {-1.0f, 0.0f, NAN}) {
    SmallGguf norm;
    norm.pairs.put_f32("llama.attention.layer_norm_epsilon", eps);
    EXPECT_HAS(norm.error(), "accepted is more than 0 and less than 1");
  }
  SmallGguf fused;  // one tensor for q, k and v is cut
  fused.tensors.erase(fused.tensors.begin(), fused.tensors.begin() + 3);
  fused.tensors.push_back({"blk.0.attn_qkv.weight", DType::f32, {96, 32}});
  EXPECT_NO_THROW(fused.load());
  fused.tensors.back().shape = {90, 32};
  EXPECT_HAS(fused.error(), "has 90 rows; its parts together have 96");
  fused.tensors.back().shape = {96, 32};
  fused.tensors.push_back({"blk.0.attn_q.weight", DType::f32, {32, 32}});
  EXPECT_HAS(fused.error(), "as is");
}

GenerationDefaults defaults_of(std::string_view generation, std::string_view config_eos) {
  TempFolder folder;
  write_bytes(folder / "config.json", fmt::format("{{\"model_type\": \"llama\"{}}}", config_eos));
  if (!generation.empty()) write_bytes(folder / "generation_config.json", generation);
  return generation_defaults(io::ModelFiles::open(folder.path()));
}

TEST(generation_defaults, end_ids_as_one_a_list_or_only_there) {
  using Ids = std::vector<std::int32_t>;
  EXPECT_EQ(defaults_of("", ", \"eos_token_id\": 2").end_ids, Ids{2});
  EXPECT_EQ(defaults_of("", ", \"eos_token_id\": [5, 2, 5]").end_ids, (Ids{2, 5}));
  EXPECT_EQ(defaults_of("{}", ", \"eos_token_id\": 2").end_ids, Ids{2});
  EXPECT_EQ(defaults_of(R"({"eos_token_id": 7})", "").end_ids, Ids{7});
  EXPECT_EQ(defaults_of(R"({"eos_token_id": [7, 9]})", ", \"eos_token_id\": 2").end_ids, (Ids{7, 9}));
  EXPECT_EQ(defaults_of("", ", \"eos_token_id\": null").end_ids, Ids{});
  EXPECT_HAS(error_of([] { defaults_of(R"({"eos_token_id": -7})", ""); }), "key 'eos_token_id' has -7");
  EXPECT_HAS(error_of([] { defaults_of(R"({"eos_token_id": "x"})", ""); }), "key 'eos_token_id'");
}

TEST(generation_defaults, sampling) {
  EXPECT_FALSE(defaults_of("", "").temperature);
  EXPECT_FALSE(defaults_of(R"({"temperature": 0.6})", "").temperature);  // without do_sample it says nothing
  EXPECT_EQ(defaults_of(R"({"temperature": 0.6, "do_sample": false})", "").temperature, 0.0f);
  const GenerationDefaults d = defaults_of(
      R"({"do_sample": true, "temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.1, "repetition_penalty": 1.05})",
      "");
  EXPECT_EQ(d.temperature, 0.6f);
  EXPECT_EQ(d.top_p, 0.95f);
  EXPECT_EQ(d.top_k, 20);
  EXPECT_EQ(d.min_p, 0.1f);
  EXPECT_EQ(d.repetition_penalty, 1.05f);
  EXPECT_EQ(defaults_of(R"({"do_sample": true})", "").temperature, 1.0f);
  EXPECT_HAS(error_of([] { defaults_of(R"({"do_sample": true, "top_p": 1.5})", ""); }),
             "key 'top_p' is 1.5; accepted is");
}

}  // namespace
}  // namespace ridge::model
