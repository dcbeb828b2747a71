#include "io/repo_files.h"

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

using Names = std::vector<std::string>;

std::vector<RepoFile> files(const Names& names) {
  std::vector<RepoFile> list;
  for (const std::string& n : names) list.push_back({n, 1000});
  return list;
}
RepoChoice choose(const Names& names, std::string_view wanted = "") {
  return choose_files("org/name", files(names), wanted);
}

TEST(repo_files, safetensors_with_what_belongs_to_them) {
  const RepoChoice one =
      choose({".gitattributes", "README.md", "config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json",
              "onnx/model.onnx", "original/consolidated.safetensors", "additional_chat_templates/tool.jinja"});
  EXPECT_EQ(one.format, RepoFormat::safetensors);
  EXPECT_EQ(one.files,
            (Names{"config.json", "tokenizer.json", "additional_chat_templates/tool.jinja", "model.safetensors"}));
  EXPECT_EQ(one.index, "");
  const RepoChoice many = choose({"config.json", "consolidated.safetensors", "model-00001-of-00002.safetensors",
                                  "model-00002-of-00002.safetensors", "model.safetensors.index.json"});
  EXPECT_EQ(many.files, (Names{"config.json", "model.safetensors.index.json"}));
  EXPECT_EQ(many.index, "model.safetensors.index.json");
  EXPECT_EQ(choose({"config.json", "weights.safetensors"}).files, (Names{"config.json", "weights.safetensors"}));
  EXPECT_EQ(choose({"config.json", "model.safetensors", "a.Q4_0.gguf", "a.Q8_0.gguf"}).format, RepoFormat::safetensors);
}

TEST(repo_files, no_model_and_why) {
  EXPECT_HAS(choose({"config.json", "pytorch_model.bin"}).why_none, "pickled ('pytorch_model.bin')");
  EXPECT_HAS(choose({"adapter_model.safetensors"}).why_none, "no config.json");
  EXPECT_HAS(choose({"config.json", "a.safetensors", "b.safetensors"}).why_none, "no index");
  EXPECT_HAS(choose({"README.md"}).why_none, "neither");
}

TEST(repo_files, one_gguf_or_a_named_one) {
  const Names several = {"m-Q4_K_M.gguf",
                         "m-Q4_K_S.gguf",
                         "m-Q8_0.gguf",
                         "mmproj-m-Q8_0.gguf",
                         "BF16/m-BF16-00002-of-00002.gguf",
                         "BF16/m-BF16-00001-of-00002.gguf"};
  EXPECT_EQ(choose({"m-Q4_K_M.gguf", "mmproj-F16.gguf", "config.json"}).files, (Names{"m-Q4_K_M.gguf"}));
  const std::string message = error_of([&] { choose(several); });
  EXPECT_HAS(message, "org/name: has 4 GGUF models");
  EXPECT_HAS(message, "org/name:m-Q4_K_M.gguf (1 000 B)");
  EXPECT_HAS(message, "in 2 parts");
  EXPECT_EQ(choose(several, "q4_k_m").files, (Names{"m-Q4_K_M.gguf"}));
  EXPECT_EQ(choose(several, "m-Q8_0.gguf").files, (Names{"m-Q8_0.gguf"}));
  EXPECT_EQ(choose(several, "m-Q8_0").files, (Names{"m-Q8_0.gguf"}));
  EXPECT_HAS(error_of([&] { choose(several, "Q4_K"); }), "has no file or GGUF model called 'Q4_K'; it has org/name:");
  EXPECT_HAS(error_of([&] { choose({"a-Q4_0.gguf", "b-Q4_0.gguf"}, "Q4_0"); }), "2 GGUF models are called 'Q4_0'");
  EXPECT_HAS(error_of([&] { choose({"config.json"}, "Q4_0"); }), "has no file 'Q4_0'");
  EXPECT_EQ(choose({"config.json"}, "config.json").format, RepoFormat::file);
}

TEST(repo_files, every_part_of_a_split_model) {
  const Names parts = {"BF16/m-00003-of-00003.gguf", "BF16/m-00001-of-00003.gguf", "BF16/m-00002-of-00003.gguf"};
  const Names in_order = {"BF16/m-00001-of-00003.gguf", "BF16/m-00002-of-00003.gguf", "BF16/m-00003-of-00003.gguf"};
  EXPECT_EQ(choose(parts).files, in_order);
  EXPECT_EQ(choose(parts, "BF16/m-00002-of-00003.gguf").files, in_order);
  EXPECT_HAS(error_of([&] { choose({parts[0], parts[1]}); }), "says that it has 3 parts; 2 are there");
  EXPECT_EQ(choose({"m-00004-of-00003.gguf"}).files, (Names{"m-00004-of-00003.gguf"}));  // no part of anything
}

TEST(repo_files, labels_are_whole_words) {
  EXPECT_TRUE(has_label("model-Q4_K_M", "Q4_K_M"));
  EXPECT_TRUE(has_label("model.q4_k_m", "Q4_K_M"));
  EXPECT_TRUE(has_label("Q4_0", "Q4_0"));
  EXPECT_TRUE(has_label("model-UD-Q4_K_XL", "UD-Q4_K_XL"));
  EXPECT_FALSE(has_label("model-Q4_K_M", "Q4_K"));
  EXPECT_FALSE(has_label("model-IQ4_NL", "Q4_NL"));
  EXPECT_FALSE(has_label("model", ""));
}

TEST(repo_files, nothing_that_executes) {
  for (const char* name :
       {"pytorch_model.bin", "x.pt", "modeling_x.py", "a.pkl", "b.pickle", "lib.so", "run.sh", "c.pth", "d.ckpt"}) {
    EXPECT_TRUE(may_execute(name)) << name;
    EXPECT_FALSE(is_fetched(name)) << name;
  }
  for (const char* name : {"model.safetensors", "x.gguf", "config.json", "model.safetensors.index.json",
                           "chat_template.jinja", "tokenizer.model", "merges.txt"})
    EXPECT_TRUE(is_fetched(name)) << name;
}

}  // namespace
}  // namespace ridge::io
