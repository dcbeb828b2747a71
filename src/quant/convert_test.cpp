// Converted files against what they were made from: the same logits, the same bytes, nothing lost in silence.
#include "quant/convert.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "io/ggml_types.h"
#include "io/gguf_write.h"
#include "io/hostile_files_test.h"
#include "model/golden_models_test.h"
#include "model/shapes.h"
#include "model/text.h"
#include "op/run_case.h"
#include "quant/plan.h"
#include "quant/text_pairs.h"

namespace ridge::quant {
namespace fs = std::filesystem;
namespace {

using io::error_of;
using io::TempFolder;
using model::goldens;

Converted converted(const fs::path& from, const fs::path& to, const ConvertOptions& options = {}) {
  ThreadPool pool(2);
  return convert(io::ModelFiles::open(from), to, options, pool);
}

std::vector<float> logits(const fs::path& path, const std::vector<std::int32_t>& ids) {
  return model::Runner(path, {.device = ir::Device::ref, .kv_dtype = DType::f32}, std::int64_t(ids.size())).append(ids);
}

// The golden of a model folder, which the converted file is held to as the folder is.
class folders : public testing::TestWithParam<std::string> {
 public:
  fs::path model() const { return goldens / "models" / GetParam(); }
  std::vector<std::int32_t> ids() const { return golden_.values<std::int32_t>("ids_75"); }
  double error_of_logits(const fs::path& path) const {
    return op::relative_error(logits(path, ids()), golden_.values<float>("logits_75"));
  }

 private:
  model::Golden golden_{model() / "golden.safetensors"};
};

TEST_P(folders, as_gguf_in_float32_give_the_same_logits) {
  TempFolder folder;
  const Converted done = converted(model(), folder / "m.gguf", {.type = DType::f32});
  EXPECT_GT(done.tensors, 0);
  const std::vector<float> before = logits(model(), ids()), after = logits(folder / "m.gguf", ids());
  EXPECT_LE(op::relative_error(after, before), 1e-6);
  EXPECT_LE(error_of_logits(folder / "m.gguf"), 1e-5);
}

TEST_P(folders, as_gguf_in_q8_0_are_close) {
  TempFolder folder;
  converted(model(), folder / "m.gguf", {.type = DType::q8_0});
  EXPECT_LE(error_of_logits(folder / "m.gguf"), 5e-2);
}

TEST_P(folders, as_folders_keep_every_bit) {
  TempFolder folder;
  const Converted done = converted(model(), folder / "same");
  EXPECT_EQ(done.copied, done.tensors);
  EXPECT_EQ(logits(folder / "same", ids()), logits(model(), ids()));
  EXPECT_EQ(io::read_bytes(folder / "same/config.json"), io::read_bytes(model() / "config.json"));
  converted(model(), folder / "wide", {.type = DType::f32});  // f8 and bf16 are among the goldens
  EXPECT_LE(op::relative_error(logits(folder / "wide", ids()), logits(model(), ids())), 1e-6);
  EXPECT_FALSE(fs::exists(folder / "same/golden.safetensors"));
}
INSTANTIATE_TEST_SUITE_P(all, folders, testing::ValuesIn(model::names_in(goldens / "models", "")), model::test_name);

std::string tensor_bytes(const io::ModelFiles& files, const io::TensorEntry& t) {
  const auto bytes = files.bytes(t);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_same_tensors(const fs::path& a, const fs::path& b) {
  const io::ModelFiles x = io::ModelFiles::open(a), y = io::ModelFiles::open(b);
  ASSERT_EQ(x.tensors.size(), y.tensors.size());
  for (const io::TensorEntry& t : x.tensors) {
    const io::TensorEntry* same = y.find(t.name);
    ASSERT_NE(same, nullptr) << t.name;
    EXPECT_EQ(t.type, same->type) << t.name;
    EXPECT_EQ(t.shape, same->shape) << t.name;
    EXPECT_TRUE(tensor_bytes(x, t) == tensor_bytes(y, *same)) << t.name;
  }
}

TEST(convert, copies_what_has_its_type) {
  TempFolder folder;
  for (const char* name : {"llama_256.q4_k_m", "llama_256.iq4_xs", "llama_256.q2_k", "mixtral.f32"}) {
    const fs::path from = goldens / "gguf" / fmt::format("{}.gguf", name);
    const Converted done = converted(from, folder / "copy.gguf", {.overwrite = Overwrite::replace});
    EXPECT_EQ(done.copied, done.tensors) << name;
    expect_same_tensors(from, folder / "copy.gguf");
  }
  const fs::path q8 = goldens / "gguf/llama_256.q8_0.gguf";
  EXPECT_EQ(converted(q8, folder / "q8.gguf", {.type = DType::q8_0}).copied,
            std::int64_t(io::ModelFiles::open(q8).tensors.size()));
  expect_same_tensors(q8, folder / "q8.gguf");
}

TEST(convert, keeps_types_that_ridge_cannot_read) {
  TempFolder folder;
  ThreadPool pool(1);
  io::GgufPairs pairs;
  pairs.put_string("general.architecture", "llama");
  std::vector<std::byte> block(66, std::byte(7)), row(128, std::byte(1));
  {
    io::GgufWriter writer(
        folder / "odd.gguf", pairs,
        {{"a.weight", DType::u8, {1, 256}, io::ggml_type_named("IQ2_XXS")}, {"b.weight", DType::f32, {1, 32}}}, 64);
    writer.append(block), writer.append(row);
    writer.finish();
  }
  const Converted done = converted(folder / "odd.gguf", folder / "f16.gguf", {.type = DType::f16});
  ASSERT_EQ(done.notes.size(), 1u);
  EXPECT_HAS(done.notes[0], "1 tensors ('a.weight') stay as they are");
  const io::ModelFiles after = io::ModelFiles::open(folder / "f16.gguf");
  EXPECT_EQ(after.find("a.weight")->type, "IQ2_XXS");
  EXPECT_EQ(after.find("a.weight")->offset % 64, 0u);
  EXPECT_EQ(tensor_bytes(after, *after.find("a.weight")), std::string(66, 7));
  EXPECT_EQ(after.find("b.weight")->type, "F16");
  EXPECT_HAS(error_of([&] { converted(folder / "odd.gguf", folder / "x.safetensors"); }), "IQ2_XXS");
}

TEST(convert, says_what_it_cannot_do) {
  TempFolder folder;
  const fs::path model = goldens / "models/llama3", gguf = goldens / "gguf/llama3.f32.gguf";
  fs::copy_file(gguf, folder / "in.gguf");
  EXPECT_HAS(error_of([&] { converted(folder / "in.gguf", folder / "in.gguf"); }), "is the model that is read");
  EXPECT_HAS(error_of([&] { converted(folder / "in.gguf", folder / "in.gguf", {.overwrite = Overwrite::replace}); }),
             "is the model that is read");
  fs::create_hard_link(folder / "in.gguf", folder / "link.gguf");
  EXPECT_HAS(error_of([&] { converted(folder / "in.gguf", folder / "link.gguf", {.overwrite = Overwrite::replace}); }),
             "is the model that is read");
  io::write_bytes(folder / "there.gguf", "x");
  EXPECT_HAS(error_of([&] { converted(model, folder / "there.gguf"); }), "--force");
  EXPECT_EQ(io::read_bytes(folder / "there.gguf"), "x");
  converted(model, folder / "there.gguf", {.overwrite = Overwrite::replace});
  EXPECT_EQ(io::read_bytes(folder / "there.gguf").substr(0, 4), "GGUF");
  fs::create_directory(folder / "full");
  io::write_bytes(folder / "full/x", "x");
  EXPECT_HAS(error_of([&] { converted(model, folder / "full", {.overwrite = Overwrite::replace}); }),
             "a folder is not replaced");
  EXPECT_HAS(error_of([&] { converted(gguf, folder / "new"); }), "made from such a folder only");
  EXPECT_HAS(error_of([&] { converted(model, folder / "m.safetensors", {.type = DType::q8_0}); }), "cannot hold Q8_0");
  EXPECT_HAS(error_of([&] {
               converted(model, folder / "m.gguf", {.rules = {{"*nothing*", DType::f16}}});
             }),
             "no matrix has such a name");
  EXPECT_HAS(error_of([&] { converted(model, folder / "no/where/m.gguf"); }), "cannot be written");
  EXPECT_FALSE(fs::exists(folder / "m.gguf"));
  EXPECT_FALSE(fs::exists(folder / "new"));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find(".part-"), std::string::npos);
}

TEST(convert, refuses_weights_that_are_no_numbers) {
  TempFolder folder;
  const float bad[2] = {1, NAN}, large[2] = {1, 1e6f};
  io::write_safetensors(folder / "bad.safetensors", std::vector<io::FloatTensor>{{"a", {2}, bad}});
  EXPECT_HAS(error_of([&] { converted(folder / "bad.safetensors", folder / "o.safetensors", {.type = DType::bf16}); }),
             "'a', value 1: is not a finite number");
  io::write_safetensors(folder / "large.safetensors", std::vector<io::FloatTensor>{{"a", {2}, large}});
  EXPECT_HAS(error_of([&] { converted(folder / "large.safetensors", folder / "o.safetensors", {.type = DType::f16}); }),
             "is too large for F16");
  EXPECT_FALSE(fs::exists(folder / "o.safetensors"));
}

DType chosen(const char* name, std::vector<std::int64_t> shape, ConvertOptions options, bool head = false) {
  std::vector<std::string> notes;
  return TypeChooser(options, notes).choose(name, shape, DType::f32, head).value_or(DType::f32);
}

TEST(plan, types_are_those_of_llama_cpp) {
  EXPECT_EQ(chosen("blk.0.attn_q.weight", {64, 256}, {.type = DType::q4_k}), DType::q4_k);
  EXPECT_EQ(chosen("blk.0.attn_q.weight", {64, 96}, {.type = DType::q4_k}), DType::q5_0);
  EXPECT_EQ(chosen("blk.0.attn_q.weight", {64, 96}, {.type = DType::q5_k}), DType::q5_1);
  EXPECT_EQ(chosen("blk.0.attn_q.weight", {64, 96}, {.type = DType::q6_k}), DType::q8_0);
  EXPECT_EQ(chosen("blk.0.attn_q.weight", {64, 40}, {.type = DType::q4_k}), DType::f16);
  EXPECT_EQ(chosen("output.weight", {64, 256}, {.type = DType::q4_0}, true), DType::q6_k);
  EXPECT_EQ(chosen("output.weight", {64, 96}, {.type = DType::q4_0}, true), DType::q8_0);
  EXPECT_EQ(chosen("output.weight", {64, 256}, {.type = DType::q8_0}, true), DType::q8_0);
  EXPECT_EQ(chosen("output.weight", {64, 256}, {.type = DType::q4_0, .head = HeadType::same}, true), DType::q4_0);
  for (const char* exact : {"blk.0.attn_norm.weight", "blk.0.ffn_gate_inp.weight", "position_embd.weight"})
    EXPECT_EQ(chosen(exact, {64, 256}, {.type = DType::q4_0}), DType::f32) << exact;
  EXPECT_EQ(chosen("blk.0.attn_q.bias", {64}, {.type = DType::q4_0}), DType::f32);
  const ConvertOptions ruled{.type = DType::q4_0,
                             .rules = {{"*ffn*", DType::q8_0}, {"blk.1?.ffn_down*", DType::q6_k}, {"*.attn_v.*", {}}}};
  EXPECT_EQ(chosen("blk.1.ffn_down.weight", {64, 256}, ruled), DType::q8_0);
  EXPECT_EQ(chosen("blk.12.ffn_down.weight", {64, 256}, ruled), DType::q6_k);
  EXPECT_EQ(chosen("blk.12.attn_v.weight", {64, 256}, ruled), DType::f32);
}

TEST(random_weights, are_the_same_for_a_seed_and_of_the_right_size) {
  const RandomValues r{.key = 7, .middle = 0, .spread = 2};
  std::vector<float> whole(200'000), part(1000);
  r.read(0, std::int64_t(whole.size()), whole.data());
  r.read(65'000, 1000, part.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 65'000));
  double sum = 0, squares = 0, product = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    sum += whole[i], squares += whole[i] * whole[i];
    if (i > 0) product += whole[i] * whole[i - 1];
    ASSERT_LE(std::fabs(whole[i]), 2);
  }
  const double n = double(whole.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 4.0 / 3, 0.01);
  EXPECT_NEAR(product / n, 0, 0.01);
}

void expect_moderate(const std::vector<float>& values, const char* name) {
  double squares = 0;
  for (float v : values) squares += double(v) * v;
  EXPECT_GT(squares / double(values.size()), 1e-3) << name;
  EXPECT_LT(squares / double(values.size()), 1e3) << name;
}

TEST(random_weights, of_every_family_run) {
  TempFolder folder;
  ThreadPool pool(2);
  for (const char* name : {"llama3", "mistral_swa", "mixtral", "qwen2", "qwen3", "qwen3_moe", "phi3", "phi3_longrope",
                           "granite", "gemma2", "gemma3", "olmo2", "gpt2"}) {
    const model::Description shape = model::shape_or_config((goldens / "models" / name).string(), DType::f32);
    const fs::path out = folder / fmt::format("{}.gguf", name);
    write_random(shape, out, {.type = DType::bf16}, 5, pool);
    expect_moderate(logits(out, {1, 2, 3}), name);
    write_random(shape, folder / "again.gguf", {.type = DType::bf16, .overwrite = Overwrite::replace}, 5, pool);
    EXPECT_TRUE(io::read_bytes(out) == io::read_bytes(folder / "again.gguf")) << name;
    write_random(shape, folder / name, {.type = DType::f32}, 5, pool);
    expect_moderate(logits(folder / name, {1, 2, 3}), name);
  }
}

TEST(random_weights, as_a_folder_are_a_whole_model) {
  TempFolder folder;
  ThreadPool pool(2);
  model::Description shape = model::named_shape("smollm2-135m", DType::f32);
  shape.config.layers = 1, shape.config.vocab = 300;
  write_random(shape, folder / "model", {.type = DType::bf16}, 1, pool);
  const io::ModelFiles files = io::ModelFiles::open(folder / "model");
  EXPECT_EQ(files.find("model.embed_tokens.weight")->type, "BF16");
  const text::Tokenizer tokenizer = model::load_tokenizer(files);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("Grüße\n")), "Grüße\n");
  EXPECT_EQ(tokenizer.eos(), 256u);
  converted(folder / "model", folder / "m.gguf");
  EXPECT_EQ(logits(folder / "m.gguf", {7, 8}).size(), 600u);
  io::GgufPairs pairs;  // a vocabulary that nobody has costs nothing
  put_byte_tokenizer(std::int64_t(1) << 31, pairs);
  EXPECT_LT(pairs.bytes().size(), 100u);
  EXPECT_HAS(error_of([&] { write_random(shape, folder / "x.safetensors", {.type = DType::bf16}, 1, pool); }),
             "name a folder");
}

}  // namespace
}  // namespace ridge::quant
