#include "engine/runner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/step_inputs.h"
#include "op/sampling/sampling.h"

namespace ridge::engine {
namespace {

op::SampleControl control_of(const Sequence& s) {
  return {.temperature = s.sampling.temperature,
          .top_k = s.sampling.top_k,
          .top_p = s.sampling.top_p,
          .min_p = s.sampling.min_p,
          .repetition = s.sampling.repetition_penalty,
          .frequency = s.sampling.frequency_penalty,
          .presence = s.sampling.presence_penalty,
          .seed = s.sampling.seed,
          .position = std::uint64_t(s.tokens.size())};
}

// Watches a run for the first call whose output holds a value that is not finite.
class FirstNotFinite : public program::Observer {
 public:
  explicit FirstNotFinite(program::Executor& executor) : executor_(executor) {}
  void before(std::size_t) override {}
  void after(std::size_t index) override {
    if (!found_.empty()) return;
    const ir::Call& call = executor_.program().calls()[index];
    for (ir::Value v : call.out) {
      const View out = executor_.output(v);
      const bool state = executor_.program()[v].kind == ir::Kind::state;  // blocks that nobody wrote yet hold anything
      if (out.dtype != DType::f32 || state) continue;
      const std::span<const float> values(out.as<float>(), std::size_t(out.rows() * out.columns()));
      if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) found_ = call.text();
    }
  }
  const std::string& found() const { return found_; }

 private:
  program::Executor& executor_;
  std::string found_;
};

}  // namespace

Runner::Runner(model::Loaded& model, const Capacity& capacity) : model_(model), capacity_(checked(capacity)) {
  const model::LoadOptions &is = model.options(), wants = for_generation(is, capacity_, vocabulary());
  const bool good = is.max_tokens >= wants.max_tokens && is.max_sequences >= wants.max_sequences &&
                    is.max_rows >= wants.max_rows && is.max_adjusts >= wants.max_adjusts &&
                    is.context >= wants.context && is.kv_blocks >= wants.kv_blocks &&
                    is.kv_block_size == wants.kv_block_size;
  if (!good) fail_bug("the model was loaded for a smaller capacity than its runner is asked for");
}

std::span<const std::int32_t> Runner::run(std::span<const Share> shares, std::span<const Sequence> sequences,
                                          program::Observer* observer) {
  program::Executor& executor = model_.executor();
  write_step(executor, model_.batch(), shares, sequences, capacity_.block_tokens);
  write_sampling(shares, sequences);
  executor.run(observer);
  const auto wanted = std::size_t(std::ranges::count(shares, true, &Share::wants_token));
  return {executor.output(model_.sampled()).as<std::int32_t>(), wanted};
}

void Runner::write_sampling(std::span<const Share> shares, std::span<const Sequence> sequences) {
  const View controls = model_.executor().input(model_.controls());
  auto* control = controls.as<op::SampleControl>();
  auto* adjusts = model_.executor().input(model_.adjusts()).as<op::SampleAdjust>();
  std::int32_t used = 0;
  for (const Share& share : shares) {
    if (!share.wants_token) continue;
    const Sequence& sequence = sequences[std::size_t(share.sequence)];
    const std::span<const op::SampleAdjust> list = sequence.counts.adjusts();
    *control = control_of(sequence);
    control->adjust_begin = used;
    control->adjust_end = used + std::int32_t(list.size());
    std::ranges::copy(list, adjusts + used);
    used = control->adjust_end;
    ++control;
  }
  std::fill(control, controls.as<op::SampleControl>() + controls.rows(), op::SampleControl{});  // rows of nobody
}

std::string Runner::blame_for_missing_token() {
  FirstNotFinite watch(model_.executor());
  model_.executor().run(&watch);
  if (!watch.found().empty()) return fmt::format("{} is the first to yield a value that is not finite", watch.found());
  const ir::Program& p = model_.program();
  return fmt::format("{} found no token to draw: every one is forbidden",
                     p.calls()[std::size_t(p[model_.sampled()].producer)].text());
}

}  // namespace ridge::engine
