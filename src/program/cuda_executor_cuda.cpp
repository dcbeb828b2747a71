#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "op/table_cuda.h"
#include "program/cuda_executor.h"

namespace ridge::program {
namespace {

std::int64_t aligned(std::int64_t n) { return (n + 255) / 256 * 256; }

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(const ir::Program& program, const ir::Target& target, std::vector<View> weights,
               const CudaOptions& options, Reuse reuse)
      : Executor(program, target, std::move(weights), reuse, op::choose_cuda), options_(options), on_(target.gpu) {
    on_.stream = stream_;
    on_.dependent = options.dependent;
    const std::int64_t inputs = aligned(plan_.input_bytes), states = aligned(plan_.state_bytes),
                       arena = aligned(plan_.arena_bytes);
    memory_ = cuda::Buffer(cuda::Where::device, inputs + states + arena + plan_.scratch_bytes,
                           "the KV cache and the activations");
    states_ = {memory_.data() + inputs, std::size_t(states)};
    scratch_ = {memory_.data() + inputs + states + arena, std::size_t(plan_.scratch_bytes)};
    host_inputs_ = cuda::Buffer(cuda::Where::pinned, plan_.input_bytes, "the inputs of a step");
    std::fill_n(host_inputs_.data(), plan_.input_bytes, std::byte(0));
    place({.inputs = memory_.data(), .states = states_.data(), .arena = memory_.data() + inputs + states});
    leave_large_inputs();
    clear_states();
  }
  ~CudaExecutor() override { cudaStreamSynchronize(stream_); }

  // A decode step is padded to one of a few counts of sequences, so that few graphs serve all.
  Sizes rounded(const Sizes& s) const override {
    if (!options_.graphs || !decodes(s)) return s;
    const std::int64_t n = s.sequences, step = n <= 2 ? 1 : n <= 4 ? 4 : n <= 64 ? 8 : 32;
    const Sizes& most = target_.most;
    const std::int64_t bucket = std::min({(n + step - 1) / step * step, most.tokens, most.sequences, most.rows});
    return bucket < s.sequences ? s : Sizes{bucket, bucket, bucket};
  }

  View input(ir::Value v) override {
    wait();
    View at = view(v);
    at.data = host_inputs_.data() + plan_.offset[std::size_t(v.id)];
    return at;
  }

  View output(ir::Value v) override {
    View at = view(v);
    const std::int64_t bytes = at.bytes();
    cuda::Buffer& host = host_outputs_[v.id];
    if (host.bytes() < bytes) host = cuda::Buffer(cuda::Where::pinned, bytes, "the outputs of a step");
    stream_.copy(host.data(), at.data, std::size_t(bytes));
    stream_.wait();
    running_ = false;
    at.data = host.data();
    return at;
  }

  void wait() override {
    if (running_) stream_.wait();
    running_ = false;
  }

  void run(Observer* observer) override {
    stream_.copy(memory_.data(), host_inputs_.data(), std::size_t(copied_bytes_));
    running_ = true;
    if (observer) run_observed(*observer);
    else if (options_.graphs && decodes(bound_)) graph().launch();
    else launch_all();
  }

 private:
  static bool decodes(const Sizes& s) { return s.sequences > 0 && s.tokens == s.sequences && s.rows == s.sequences; }

  void launch_call(std::size_t i) {
    Prepared& step = steps_[i];
    if (step.idle) return;
    const ir::Call& call = program_.calls()[i];
    try {
      step.choice.launch(ir::CudaBound{step.in, step.out, call.params, on_, scratch_});
    } catch (const Error& e) {
      throw Error(e.fault(), fmt::format("{}: {}", call.text(), e.what()));
    }
  }
  void launch_all() {
    for (std::size_t i = 0; i < steps_.size(); ++i) launch_call(i);
  }
  void run_observed(Observer& observer) {  // each call by itself: what it takes, and what it did when it fails
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].idle) continue;
      stream_.wait();
      observer.before(i);
      launch_call(i);
      try {
        stream_.wait();
      } catch (const Error& e) {
        throw Error(e.fault(), fmt::format("{}: {}", program_.calls()[i].text(), e.what()));
      }
      observer.after(i);
    }
  }

  cuda::Graph& graph() {
    std::unique_ptr<cuda::Graph>& g = graphs_[bound_.sequences];
    if (!g) g = std::make_unique<cuda::Graph>(stream_, [&] { launch_all(); });
    return *g;
  }

  // What is copied at each step are the inputs up to the first large one. Large ones, of which a step needs little,
  // stay in pinned memory, where the GPU reads what it needs.
  void leave_large_inputs() {
    constexpr std::int64_t large = 256 << 10;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      if (program_.values()[i].kind != ir::Kind::input) continue;
      const std::int64_t offset = plan_.offset[i], bytes = value_bytes(program_.values()[i], target_.most);
      if (bytes > large) views_[i].data = host_inputs_.data() + offset;
      else copied_bytes_ = std::max(copied_bytes_, offset + bytes);
    }
    bind(target_.most);
  }
  void clear_states() {  // an unwritten place must not hold a NaN that a masked weight of 0 would multiply
    stream_.clear(states_.data(), states_.size());
  }

  CudaOptions options_;
  cuda::Stream stream_;
  cuda::Launch on_;
  cuda::Buffer memory_, host_inputs_;
  std::span<std::byte> states_, scratch_;
  std::int64_t copied_bytes_ = 0;
  std::map<std::int32_t, cuda::Buffer> host_outputs_;            // by value
  std::map<std::int64_t, std::unique_ptr<cuda::Graph>> graphs_;  // by sequences
  bool running_ = false;
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const ir::Program& program, const ir::Target& target,
                                             std::vector<View> weights, const CudaOptions& options, Reuse reuse) {
  return std::make_unique<CudaExecutor>(program, target, std::move(weights), options, reuse);
}

}  // namespace ridge::program
