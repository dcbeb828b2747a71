#include "io/model_files.h"

#include <fstream>

#include "io/gguf_write.h"
#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

const std::string goldens = RIDGE_SOURCE_DIR "/tests/goldens/";

TEST(model_files, a_folder_and_a_gguf_file_of_one_model_agree) {
  // llama.cpp's converter permutes q and k rows of Llama models only; Qwen2 keeps all as they are.
  const ModelFiles hf = ModelFiles::open(goldens + "models/qwen2"),
                   gguf = ModelFiles::open(goldens + "gguf/qwen2.f32.gguf");
  EXPECT_EQ(hf.kind, FileKind::hf_folder);
  EXPECT_EQ(gguf.kind, FileKind::gguf);
  EXPECT_EQ(hf.config->text("model_type"), "qwen2");
  EXPECT_EQ(gguf.gguf()->get_string("general.architecture"), "qwen2");
  EXPECT_EQ(hf.gguf(), nullptr);
  const std::pair<const char*, const char*> same[] = {{"model.embed_tokens.weight", "token_embd.weight"},
                                                      {"model.norm.weight", "output_norm.weight"},
                                                      {"model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"},
                                                      {"model.layers.1.self_attn.k_proj.bias", "blk.1.attn_k.bias"},
                                                      {"model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"},
                                                      {"model.layers.0.mlp.gate_proj.weight", "blk.0.ffn_gate.weight"}};
  for (const auto& [a, b] : same) {
    const TensorEntry *x = hf.find(a), *y = gguf.find(b);
    ASSERT_TRUE(x && y) << a;
    EXPECT_EQ(x->shape, y->shape) << a;
    EXPECT_EQ(x->dtype, y->dtype) << a;
    EXPECT_TRUE(std::ranges::equal(hf.bytes(*x), gguf.bytes(*y))) << a;
    hf.release(*x), gguf.release(*y);
    EXPECT_TRUE(std::ranges::equal(hf.bytes(*x), gguf.bytes(*y))) << a;
  }
  EXPECT_EQ(hf.find("none"), nullptr);
  EXPECT_GT(hf.file_bytes(), 500000u);
}

TEST(model_files, every_golden_opens) {
  for (const auto& entry : std::filesystem::directory_iterator(goldens + "models")) {
    const ModelFiles m = ModelFiles::open(entry.path());
    EXPECT_FALSE(m.tensors.empty());
    EXPECT_EQ(m.generation.has_value(), std::filesystem::exists(entry.path() / "generation_config.json"));
    EXPECT_EQ(ModelFiles::open(entry.path() / "config.json").tensors.size(), m.tensors.size());
    if (std::filesystem::exists(entry.path() / "model.safetensors")) {
      EXPECT_EQ(ModelFiles::open(entry.path() / "model.safetensors").kind, FileKind::safetensors);
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(goldens + "gguf"))
    EXPECT_FALSE(ModelFiles::open(entry.path()).tensors.empty());
}

TEST(model_files, what_a_path_is) {
  TempFolder folder;
  const auto open = [&](std::string_view name) { return ModelFiles::open(folder / name); };
  EXPECT_HAS(error_of([&] { open("none"); }), "there is no such file or folder");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_HAS(error_of([&] { open("empty"); }), "the folder holds no model, tokenizer or template; accepted are");
  write_bytes(folder / "weights.bin", "PK");
  EXPECT_HAS(error_of([&] { open("weights.bin"); }), "is not a file that ridge knows; accepted are");

  std::filesystem::create_directory(folder / "t");
  write_bytes(folder / "t" / "chat_template.jinja", "{{ x }}");
  EXPECT_EQ(open("t").kind, FileKind::templates);
  EXPECT_EQ(open("t/chat_template.jinja").kind, FileKind::templates);
  write_bytes(folder / "t" / "tokenizer.json", "{}");
  EXPECT_EQ(open("t").kind, FileKind::tokenizer);
  EXPECT_EQ(open("t/tokenizer.json").folder, folder / "t");
  write_bytes(folder / "qwen3.tokenizer.json", "{}");
  EXPECT_EQ(open("qwen3.tokenizer.json").kind, FileKind::tokenizer);

  write_bytes(folder / "t" / "config.json", R"({"model_type":"llama"})");
  EXPECT_EQ(open("t").kind, FileKind::hf_folder);
  EXPECT_EQ(open("t").without_weights, "it holds no .safetensors file");
  write_bytes(folder / "t" / "pytorch_model.bin", "PK");
  EXPECT_HAS(open("t").without_weights, "its weights are pickled (pytorch_model.bin)");

  std::filesystem::create_directory(folder / "g");
  GgufWriter(folder / "g" / "a.gguf", {}, {}).finish();
  EXPECT_EQ(open("g").kind, FileKind::gguf);
  GgufWriter(folder / "g" / "b.gguf", {}, {}).finish();
  EXPECT_HAS(error_of([&] { open("g"); }), "holds 2 GGUF models ('a.gguf', 'b.gguf' ...); name one of them");
}

TEST(model_files, tensors_of_unknown_size_are_listed_but_not_read) {
  TempFolder folder;
  Bytes b;
  b.text = "GGUF";
  b.plain(std::uint32_t(3)).plain(std::uint64_t(1)).plain(std::uint64_t(0));
  b.string("t")
      .plain(std::uint32_t(1))
      .plain(std::uint64_t(4))
      .plain(std::uint32_t(99))
      .plain(std::uint64_t(0))
      .pad(32);
  write_bytes(folder / "f.gguf", b.text + std::string(64, 'x'));
  const ModelFiles m = ModelFiles::open(folder / "f.gguf");
  EXPECT_EQ(m.tensors[0].type, "type 99");
  EXPECT_HAS(error_of([&] { m.bytes(m.tensors[0]); }), "tensor 't' is of type 99, whose size is not known");
}

TEST(model_files, a_file_that_shrinks_is_an_error_and_no_crash) {
  TempFolder folder;
  std::filesystem::copy_file(goldens + "gguf/qwen2.f32.gguf", folder / "f.gguf");
  const ModelFiles m = ModelFiles::open(folder / "f.gguf");
  std::filesystem::resize_file(folder / "f.gguf", 4096);
  EXPECT_HAS(error_of([&] { m.bytes(m.tensors.back()); }), "has shrunk");
}

}  // namespace
}  // namespace ridge::io
