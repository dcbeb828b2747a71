// For tests: the models of tests/goldens, what others computed from them, and one sequence run through a model.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "io/safetensors.h"
#include "model/loaded.h"

namespace ridge::model {
namespace fs = std::filesystem;

inline const fs::path goldens = fs::path(RIDGE_SOURCE_DIR) / "tests/goldens";

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
    const auto ints = [&](ir::Value v) { return e.input(v).as<std::int32_t>(); };
    for (std::int64_t i = 0; i < n; ++i) {
      ints(b.tokens)[i] = ids[i];
      ints(b.positions)[i] = ints(b.slots)[i] = std::int32_t(length_ + i);
      ints(b.wanted)[i] = std::int32_t(i);
    }
    ints(b.sequences.query_start)[0] = 0, ints(b.sequences.query_start)[1] = std::int32_t(n);
    ints(b.sequences.context_len)[0] = std::int32_t(length_ + n);
    for (std::int64_t i = 0; i < e.input(b.sequences.block_table).columns(); ++i)
      ints(b.sequences.block_table)[i] = std::int32_t(i);
    e.run();
    length_ += n;
    const View rows = e.output(loaded_->logits());
    return {rows.as<float>(), rows.as<float>() + rows.rows() * rows.columns()};
  }

 private:
  ThreadPool pool_;
  std::unique_ptr<Loaded> loaded_;
  std::int64_t length_ = 0;
};

// What the files of a folder that end so are called before that.
inline std::vector<std::string> names_in(const fs::path& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace ridge::model
