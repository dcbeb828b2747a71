// A model ready to run on a device: described, recorded, passed over, its weights bound, its executor made. What a
// verb or the engine holds.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "program/executor.h"
#include "program/passes.h"

namespace ridge::model {

struct LoadOptions {
  ir::Device device = ir::Device::cpu;
  std::optional<ir::Activations> activations;  // empty: int8 on the CPU, f32 on the reference device
  std::optional<DType> kv_dtype;               // empty: see default_kv_dtype
  std::int64_t max_tokens = 512;               // of a step
  std::int64_t max_sequences = 1;              // of a step
  std::int64_t max_rows = 1;                   // of a step whose logits are wanted
  std::int64_t context = 0;                    // the longest sequence
  std::int64_t kv_blocks = 0, kv_block_size = 0;
  std::int64_t max_adjusts = 0;  // sampling: most SampleAdjusts of a step; 0: no sampling call is recorded
  std::vector<std::string> skip_passes;
  int gpu = 0;                                  // of Device::cuda: which one
  bool graphs = true, dependent_launch = true;  // of Device::cuda (program/cuda_executor.h)
};

// f16 where the weights are no more exact than that; f32 for float32 weights, the reference device and f32 activations.
DType default_kv_dtype(const Description& d, const LoadOptions& options);

struct MemoryUse {  // on the device; bytes that the plan asks for; states are touched only as far as they are used
  std::int64_t weights = 0, states = 0, arena = 0, inputs = 0, scratch = 0;
};

class Loaded {
 public:
  // `pool` must outlive it.
  Loaded(Description description, const LoadOptions& options, ThreadPool& pool);

  const Config& config() const { return description_.config; }
  const Description& description() const { return description_; }
  const LoadOptions& options() const { return options_; }
  const ir::Program& program() const { return recorded_.program; }
  const Batch& batch() const { return recorded_.batch; }
  ir::Value logits() const { return recorded_.logits; }
  // With sampling: what the sampling call reads (op/sampling/sampling.h) and the tokens it yields.
  ir::Value controls() const { return controls_; }
  ir::Value adjusts() const { return adjusts_; }
  ir::Value sampled() const { return sampled_; }
  const std::vector<program::PassRecord>& passes() const { return passes_; }
  program::Executor& executor() { return *executor_; }
  MemoryUse memory() const;

 private:
  void record_sampling();
  Description description_;
  LoadOptions options_;
  Recorded recorded_;
  ir::Value controls_, adjusts_, sampled_;
  std::vector<program::PassRecord> passes_;
  program::BoundWeights weights_;
  std::unique_ptr<program::Executor> executor_;
};

}  // namespace ridge::model
