#include "model/loaded.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#if RIDGE_CUDA
#include "cuda/device.h"
#include "program/cuda_executor.h"
#endif
#include "op/sampling/sampling.h"

namespace ridge::model {

DType default_kv_dtype(const Description& d, const LoadOptions& options) {
  if (options.device == ir::Device::ref || options.activations == ir::Activations::f32) return DType::f32;
  for (const auto& [name, t] : d.tensors)
    if (t.shape.size() > 1 && t.dtype == DType::f32) return DType::f32;
  return DType::f16;
}

static cuda::Launch gpu_for(const LoadOptions& options) {
#if RIDGE_CUDA
  const cuda::Device device = cuda::select(options.gpu);
  return {.arch = device.code_arch, .multiprocessors = device.multiprocessors};
#else
  fail_machine("--device cuda:{}: this ridge was built without CUDA; a machine with nvcc on its PATH builds it with",
               options.gpu);
#endif
}

Loaded::Loaded(Description description, const LoadOptions& options, ThreadPool& pool)
    : description_(std::move(description)), options_(options) {
  options_.kv_dtype = options.kv_dtype.value_or(default_kv_dtype(description_, options));
  if (options_.context <= 0 || options_.kv_block_size <= 0) fail_bug("a model is loaded for a context and a page size");
  const std::int64_t per_sequence = (options_.context + options_.kv_block_size - 1) / options_.kv_block_size;
  recorded_ = record(description_, {.kv_blocks = options_.kv_blocks,
                                    .kv_block_size = options_.kv_block_size,
                                    .blocks_per_sequence = per_sequence,
                                    .kv_dtype = *options_.kv_dtype,
                                    .context = options_.context});
  if (options_.max_adjusts > 0) record_sampling();

  const bool reference = options_.device == ir::Device::ref;
  const bool cuda = options_.device == ir::Device::cuda;
  ir::Target target{
      .device = options_.device,
      .activations = options_.activations.value_or(reference ? ir::Activations::f32 : ir::Activations::int8),
      .isa = hw::isa(),
      .threads = pool.threads(),
      .gpu = cuda ? gpu_for(options_) : cuda::Launch{},
      .most = {options_.max_tokens, options_.max_sequences, options_.max_rows}};
  passes_ = program::run_passes(recorded_.program, target, options_.skip_passes);
  materialize(recorded_.bindings);
  const std::vector<program::WeightSource> sources = weight_sources(recorded_);
  const auto release = [&](std::size_t i) {
    Binding& b = recorded_.bindings[i];
    if (b.tensor.entry) description_.files->release(*b.tensor.entry);
    for (const Tensor& slice : b.tensor.slices)
      if (slice.entry) description_.files->release(*slice.entry);
    b.owned = {};
  };
  if (!cuda) {
    weights_ = program::bind_weights(recorded_.program, target, sources, pool, release);
    executor_ = std::make_unique<program::HostExecutor>(recorded_.program, target, pool, weights_.views);
  }
#if RIDGE_CUDA
  if (cuda) {
    weights_ = program::upload_weights(recorded_.program, sources, pool, release);
    executor_ = program::make_cuda_executor(recorded_.program, target, weights_.views,
                                            {.graphs = options_.graphs, .dependent = options_.dependent_launch});
  }
#endif
  if (description_.files) description_.files->release_all();  // what stays mapped comes back where it is touched
}

void Loaded::record_sampling() {
  ir::Program& p = recorded_.program;
  const auto scope = p.scope("sampling");
  controls_ = p.input("sample_controls", DType::u8, {Symbol::rows, std::int64_t(sizeof(op::SampleControl))});
  adjusts_ = p.input("sample_adjusts", DType::u8, {options_.max_adjusts, std::int64_t(sizeof(op::SampleAdjust))});
  sampled_ = op::sample(p, recorded_.logits, controls_, adjusts_);
  p.mark_output(sampled_, "sampled");
}

MemoryUse Loaded::memory() const {
  const program::MemoryPlan& plan = executor_->plan();
  return {.weights = weights_.packed.bytes() + weights_.mapped_bytes + weights_.device_bytes,
          .states = plan.state_bytes,
          .arena = plan.arena_bytes,
          .inputs = plan.input_bytes,
          .scratch = plan.scratch_bytes};
}

}  // namespace ridge::model
