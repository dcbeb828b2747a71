// Every model of tests/goldens against logits that others computed in float64 from the same files.
#include "model/golden_models_test.h"
#include "op/run_case.h"

#if RIDGE_CUDA
#include "cuda/device.h"
#endif

namespace ridge::model {
namespace {

bool has_gpu() {
#if RIDGE_CUDA
  return !cuda::devices().list.empty();
#else
  return false;
#endif
}

void expect_logits(const fs::path& model, const Golden& golden, const LoadOptions& options, double tolerance) {
  for (const char* n : {"1", "17", "75"}) {
    const auto ids = golden.values<std::int32_t>(fmt::format("ids_{}", n));
    const std::vector<float> got = Runner(model, options, std::int64_t(ids.size())).append(ids);
    EXPECT_LE(op::relative_error(got, golden.values<float>(fmt::format("logits_{}", n))), tolerance)
        << model << ", " << n << " tokens";
  }
}

// Token by token after a prompt: each step's best token, where the reference's lead is larger than rounding.
void expect_greedy(const fs::path& model, const Golden& golden, const LoadOptions& options) {
  const auto ids = golden.values<std::int32_t>("ids_17"), greedy = golden.values<std::int32_t>("greedy_17");
  const auto margin = golden.values<float>("greedy_17_margin");
  Runner runner(model, options, std::int64_t(ids.size() + greedy.size()));
  std::vector<float> rows = runner.append(ids);
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    const auto vocab = std::ptrdiff_t(rows.size() / (i == 0 ? ids.size() : 1));
    const auto best = std::int32_t(std::max_element(rows.end() - vocab, rows.end()) - (rows.end() - vocab));
    if (margin[i] > 1e-4f) {
      EXPECT_EQ(best, greedy[i]) << model << ", step " << i;
    }
    rows = runner.append({&greedy[i], 1});
  }
}

class hf_goldens : public testing::TestWithParam<std::string> {};
TEST_P(hf_goldens, logits_and_greedy_tokens) {
  const fs::path model = goldens / "models" / GetParam();
  const Golden golden(model / "golden.safetensors");
  expect_logits(model, golden, {.device = ir::Device::ref}, 1e-5);
  expect_logits(model, golden, {.kv_dtype = DType::f32}, 1e-5);
  expect_greedy(model, golden, {.kv_dtype = DType::f32});
  if (!has_gpu()) return;
  const LoadOptions exact{.device = ir::Device::cuda, .activations = ir::Activations::f32, .kv_dtype = DType::f32};
  expect_logits(model, golden, exact, 1e-4);
  expect_greedy(model, golden, exact);
  expect_logits(model, golden, {.device = ir::Device::cuda}, 1e-2);
}
INSTANTIATE_TEST_SUITE_P(all, hf_goldens, testing::ValuesIn(names_in(goldens / "models", "")), test_name);

// The same models as GGUF: the goldens of the folders hold for them.
class gguf_goldens : public testing::TestWithParam<std::string> {};
TEST_P(gguf_goldens, logits_and_greedy_tokens) {
  const fs::path model = goldens / "gguf" / (GetParam() + ".f32.gguf");
  const Golden golden(goldens / "models" / GetParam() / "golden.safetensors");
  expect_logits(model, golden, {.device = ir::Device::ref}, 1e-5);
  expect_logits(model, golden, {.kv_dtype = DType::f32}, 1e-5);
  expect_greedy(model, golden, {.kv_dtype = DType::f32});
  if (!has_gpu()) return;
  const LoadOptions exact{.device = ir::Device::cuda, .activations = ir::Activations::f32, .kv_dtype = DType::f32};
  expect_logits(model, golden, exact, 1e-4);
  expect_greedy(model, golden, exact);
  expect_logits(model, golden, {.device = ir::Device::cuda}, 1e-2);
}
INSTANTIATE_TEST_SUITE_P(all, gguf_goldens, testing::ValuesIn(names_in(goldens / "gguf", ".f32.gguf")), test_name);

// Block types: logits of the dequantized weights. int8 activations cost what they cost llama.cpp.
class quantized_goldens : public testing::TestWithParam<std::string> {};
TEST_P(quantized_goldens, logits) {
  const fs::path model = goldens / "gguf" / (GetParam() + ".gguf");
  const Golden golden(goldens / "gguf" / (GetParam() + ".golden.safetensors"));
  expect_logits(model, golden, {.device = ir::Device::ref}, 1e-3);
  expect_logits(model, golden, {.activations = ir::Activations::f32}, 1e-3);
  expect_logits(model, golden, {}, 3e-2);
  if (!has_gpu()) return;
  expect_logits(model, golden, {.device = ir::Device::cuda, .activations = ir::Activations::f32}, 1e-3);
  expect_logits(model, golden, {.device = ir::Device::cuda}, 3e-2);
}
std::vector<std::string> quantized() {
  std::vector<std::string> names = names_in(goldens / "gguf", ".gguf");
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".f32"); });
  return names;
}
INSTANTIATE_TEST_SUITE_P(all, quantized_goldens, testing::ValuesIn(quantized()), test_name);

}  // namespace
}  // namespace ridge::model
