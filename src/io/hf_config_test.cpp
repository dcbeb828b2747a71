#include "io/hf_config.h"

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

HfConfig config_of(std::string_view text) { return HfConfig::parse(text, "config.json"); }

TEST(hf_config, typed_values_newer_and_older) {
  const HfConfig c = config_of(R"({
    "hidden_size": 64, "rms_norm_eps": 1e-05, "rope_theta": 10000, "tie_word_embeddings": true,
    "architectures": ["LlamaForCausalLM"], "eos_token_id": 2, "torch_dtype": "bfloat16",
    "rope_scaling": null, "pad_token_id": null,
    "rope_parameters": {"full_attention": {"rope_theta": 1e6, "rope_type": "default"},
                        "sliding_attention": {"rope_theta": 10000.0}}})");
  EXPECT_EQ(c.integer("hidden_size"), 64);
  EXPECT_EQ(c.number("rms_norm_eps"), 1e-5);
  EXPECT_EQ(c.number("rope_theta"), 10000.0);
  EXPECT_TRUE(c.truth("tie_word_embeddings"));
  EXPECT_EQ(c.texts("architectures"), std::vector<std::string>{"LlamaForCausalLM"});
  EXPECT_EQ(c.integers("eos_token_id"), std::vector<std::int64_t>{2});
  EXPECT_EQ(c.text(c.first_of({"dtype", "torch_dtype"})), "bfloat16");
  EXPECT_EQ(c.first_of({"x", "y"}), "");
  EXPECT_FALSE(c.has("rope_scaling"));
  EXPECT_TRUE(c.has("rope_parameters"));
  EXPECT_EQ(c.names_in("rope_parameters"), (std::vector<std::string>{"full_attention", "sliding_attention"}));
  EXPECT_EQ(c.number("rope_parameters.full_attention.rope_theta"), 1e6);
  EXPECT_EQ(c.integer("head_dim", 16), 16);
  EXPECT_EQ(c.unread(), (std::vector<std::string>{"rope_parameters.full_attention.rope_type",
                                                  "rope_parameters.sliding_attention.rope_theta"}));
  c.ignore("rope_parameters");
  EXPECT_TRUE(c.unread().empty());
}

TEST(hf_config, wrong_types_are_refused_by_name) {
  const HfConfig c = config_of(
      R"({"a": "8", "b": 8.0, "c": [1, "x"], "d": true, "e": 18446744073709551615, "f": [[1]], "g": {"h": 1}})");
  EXPECT_HAS(error_of([&] { c.integer("a"); }), "config.json: key 'a' is a string; an integer is accepted");
  EXPECT_HAS(error_of([&] { c.integer("b"); }), "key 'b' is a number; an integer is accepted");
  EXPECT_HAS(error_of([&] { c.integer("c"); }), "key 'c' is a list of 2; an integer is accepted");
  EXPECT_HAS(error_of([&] { c.integers("c"); }), "key 'c' holds something else than integers");
  EXPECT_HAS(error_of([&] { c.number("d"); }), "key 'd' is a boolean; a number is accepted");
  EXPECT_HAS(error_of([&] { c.integer("d", 3); }), "key 'd' is a boolean");
  EXPECT_HAS(error_of([&] { c.integer("e"); }), "key 'e' is a number");
  EXPECT_HAS(error_of([&] { c.integers("f"); }), "key 'f' holds something else");
  EXPECT_HAS(error_of([&] { c.integer("g"); }), "key 'g' is missing");
  EXPECT_HAS(error_of([&] { c.text("none"); }), "key 'none' is missing");
  EXPECT_HAS(error_of([&] { config_of("[1]"); }), "is not a JSON object");
  EXPECT_HAS(error_of([&] { config_of(R"({"a":1,"a":2})"); }), "has the key 'a' twice");
  EXPECT_HAS(error_of([&] { config_of(R"({"a.b":1,"a":{"b":2}})"); }), "can be read in two ways");
  EXPECT_HAS(error_of([&] { config_of(R"({"a":)" + std::string(100, '[')); }), "nested more than 16 deep");
}

TEST(hf_config, reads_the_golden_models) {
  for (const auto& entry : std::filesystem::directory_iterator(RIDGE_SOURCE_DIR "/tests/goldens/models")) {
    if (!std::filesystem::exists(entry.path() / "generation_config.json")) continue;
    const HfConfig c = HfConfig::read(entry.path() / "config.json"),
                   g = HfConfig::read(entry.path() / "generation_config.json");
    EXPECT_FALSE(c.text("model_type").empty());
    EXPECT_FALSE(c.first_of({"dtype", "torch_dtype"}).empty());
    EXPECT_FALSE(g.unread().empty());
  }
}

}  // namespace
}  // namespace ridge::io
