#include <set>

#include "base/thread_pool.h"
#include "measure/statistics.h"
#include "measure/timer.h"
#include "probe/kernels.h"
#include "probe/measure_parts.h"

namespace ridge::probe {
namespace {

const std::byte* operands(hw::Arithmetic kind) {
  const Operands& all = random_operands();
  switch (kind) {
    case hw::Arithmetic::f64: return all.doubles;
    case hw::Arithmetic::bf16: return all.bf16;
    case hw::Arithmetic::int8: return all.bytes;
    default: return all.floats;
  }
}

double seconds_of(ThreadPool& pool, ThreadPool::ShareBody body) {
  const measure::Timer timer;
  pool.run(body);
  return timer.seconds();
}

}  // namespace

// Of few points: the instruction expected to be best of each kind. Else all of them.
void measure_rates(hw::Ceilings& out, ThreadPool& pool, Points points, const Budget& budget,
                   const std::function<void()>& point_done) {
  constexpr std::int64_t iterations = 1000;
  std::set<hw::Arithmetic> done;
  for (const RateKernel& kernel : rate_kernels()) {
    if (!done.insert(kernel.kind).second && points == Points::few) continue;
    std::atomic<double> kept{0};
    const double amount = kernel.ops_per_iteration * double(iterations) * pool.threads();
    const hw::Spread rate = sample_rate(budget, amount, [&](std::int64_t rounds) {
      pool.run([&](int, int) {
        kept.store(kernel.run(iterations * rounds, operands(kernel.kind)), std::memory_order_relaxed);
      });
    });
    out.rates.push_back({kernel.kind, pool.threads(), std::string(kernel.instruction), rate});
    point_done();
  }
}

// Handing out work costs what a short piece of it takes longer on all threads than on one: the others have to hear of
// it, and the caller of them. The piece is a few microseconds of arithmetic, as a small call of a model is.
void measure_dispatch(hw::Ceilings& out, ThreadPool& pool) {
  constexpr std::int64_t iterations = 2000;
  constexpr int samples = 1000;
  std::atomic<double> kept{0};
  const RateKernel kernel = rate_kernels()[0];
  const auto piece = [&](int, int) {
    kept.store(kernel.run(iterations, operands(kernel.kind)), std::memory_order_relaxed);
  };
  std::vector<double> alone, together;
  for (int i = 0; i < samples; ++i) {
    const measure::Timer timer;
    piece(0, 1);
    alone.push_back(timer.seconds());
    together.push_back(seconds_of(pool, piece));
  }
  const double base = measure::statistics(alone).median;
  const measure::Statistics s = measure::statistics(together);
  const auto cost = [&](double seconds) { return std::max(seconds - base, 1e-9); };  // no clock tells less
  out.dispatch.push_back({pool.threads(), {cost(s.median), cost(s.p10), cost(s.p90), cost(s.least), s.samples}});
}

}  // namespace ridge::probe
