// Every model of tests/goldens against logits that others computed in float64 from the same files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/thread_pool.h"
#include "io/safetensors.h"
#include "model/loaded.h"
#include "op/run_case.h"

namespace ridge::model {
namespace {
namespace fs = std::filesystem;

const fs::path goldens = fs::path(RIDGE_SOURCE_DIR) / "tests/goldens";

class Golden {  // the tensors of a golden.safetensors
 public:
  explicit Golden(const fs::path& path) : file_(path), header_(io::parse_safetensors(file_.bytes(), path.string())) {}
  template <class T> std::vector<T> values(const std::string& name) const {
    for (const auto& t : header_.tensors) {
      if (t.name != name) continue;
      std::vector<T> list(t.bytes / sizeof(T));
      std::memcpy(list.data(), file_.bytes().data() + t.offset, t.bytes);
      return list;
    }
    ADD_FAILURE() << file_.name() << " has no " << name;
    return {};
  }

 private:
  io::MappedFile file_;
  io::SafetensorsHeader header_;
};

class Runner {  // one sequence, from its beginning
 public:
  Runner(const fs::path& path, LoadOptions options, std::int64_t longest) : pool_(2) {
    options.context = options.max_tokens = options.max_rows = longest;
    options.kv_block_size = 16;
    options.kv_blocks = (longest + 15) / 16;
    loaded_ = std::make_unique<Loaded>(open(path), options, pool_);
  }

  // The logits of every one of these tokens, which follow those before.
  std::vector<float> append(std::span<const std::int32_t> ids) {
    program::Executor& e = loaded_->executor();
    const Batch& b = loaded_->batch();
    const std::int64_t n = std::int64_t(ids.size());
    e.bind({n, 1, n});
    const auto ints = [&](ir::Value v) { return e.view(v).as<std::int32_t>(); };
    for (std::int64_t i = 0; i < n; ++i) {
      ints(b.tokens)[i] = ids[i];
      ints(b.positions)[i] = ints(b.slots)[i] = std::int32_t(length_ + i);
      ints(b.wanted)[i] = std::int32_t(i);
    }
    ints(b.sequences.query_start)[0] = 0, ints(b.sequences.query_start)[1] = std::int32_t(n);
    ints(b.sequences.context_len)[0] = std::int32_t(length_ + n);
    for (std::int64_t i = 0; i < e.view(b.sequences.block_table).columns(); ++i)
      ints(b.sequences.block_table)[i] = std::int32_t(i);
    e.run();
    length_ += n;
    const View rows = e.view(loaded_->logits());
    return {rows.as<float>(), rows.as<float>() + rows.rows() * rows.columns()};
  }

 private:
  ThreadPool pool_;
  std::unique_ptr<Loaded> loaded_;
  std::int64_t length_ = 0;
};

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
    if (margin[i] > 1e-4f) EXPECT_EQ(best, greedy[i]) << model << ", step " << i;
    rows = runner.append({&greedy[i], 1});
  }
}

std::vector<std::string> names_in(const fs::path& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class hf_goldens : public testing::TestWithParam<std::string> {};
TEST_P(hf_goldens, logits_and_greedy_tokens) {
  const fs::path model = goldens / "models" / GetParam();
  const Golden golden(model / "golden.safetensors");
  expect_logits(model, golden, {.device = ir::Device::ref}, 1e-5);
  expect_logits(model, golden, {.kv_dtype = DType::f32}, 1e-5);
  expect_greedy(model, golden, {.kv_dtype = DType::f32});
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
}
std::vector<std::string> quantized() {
  std::vector<std::string> names = names_in(goldens / "gguf", ".gguf");
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".f32"); });
  return names;
}
INSTANTIATE_TEST_SUITE_P(all, quantized_goldens, testing::ValuesIn(quantized()), test_name);

}  // namespace
}  // namespace ridge::model
