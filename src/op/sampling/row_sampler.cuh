// One row of logits becomes one token, by a team of blocks that each hold a part of the row: a cluster (cuda_sm90.cu)
// or a single block (cuda_sm80.cu). Nothing is sorted but the few tokens around a cut:
//   - tokens are counted, and their weights summed, in bins of equal width below the largest logit;
//   - the bin in which a cut falls (the k-th token, top-p's last, the one that is drawn) is divided further until few
//     are left, and those the first block sorts.
// Weights are integers, 2^unit_bits times exp((logit - largest) / temperature): their sums depend on no order.
// The first block decides and tells the others what to do (Command); the others wait for it.
#pragma once
#include <cmath>

#include "op/sampling/row_parts.cuh"

namespace ridge::op::sampler {

// Team: blocks, threads (of a block) and the loads ahead of a pass as constants; rank(); at(p, r), which is where p is
// in block r's shared memory; begun(), after which the others' memory may be touched; sync(), a barrier of all threads
// of all blocks.
template <class Team> class RowSampler {
 public:
  __device__ RowSampler(const Team& team, const RowTask& task, Shared& shared) : team_(team), task_(task), s_(shared) {
    part_ = ((task.vocabulary + Team::blocks - 1) / Team::blocks + 3) / 4 * 4;
    first_ = team.rank() * part_;
    count_ = max(0, min(part_, task.vocabulary - first_));
  }

  __device__ void run() {
    const SampleControl& c = *task_.control;
    const bool adjusts = c.adjust_begin<c.adjust_end, sampled = c.temperature> 0, holds = Team::blocks > 1 || adjusts;
    values_ = holds ? task_.held : task_.logits + first_;
    if (holds) load();
    if (adjusts) adjust(c);
    else team_.begun();
    const Part row = whole(own_part());
    const bool any = logit_at(row.best) > -INFINITY;
    if (row.broken || !any || !sampled) {
      if (team_.rank() == 0 && threadIdx.x == 0) *task_.token = row.broken || !any ? -1 : std::int32_t(row.best);
      return;
    }
    prepare(c, row);
    count_all(double(c.min_p));
    if (team_.rank() == 0) draw(c);
    else obey();
  }

 private:
  static constexpr int threads = Team::threads, warps = threads / 32;

  __device__ Shared& of(int r) const { return *team_.at(&s_, r); }

  // Calls f(value, id) for each token of this part, some loads ahead.
  template <class F> __device__ void each(F f) const {
    constexpr int ahead = Team::ahead;
    for (int i = int(threadIdx.x); i < count_; i += ahead * threads) {
      float x[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k) x[k] = i + k * threads < count_ ? values_[i + k * threads] : -INFINITY;
#pragma unroll
      for (int k = 0; k < ahead; ++k)
        if (x[k] > -INFINITY) f(x[k] + 0.0f, first_ + i + k * threads);  // -0 becomes 0, its equal
    }
  }
  template <class F> __device__ void each_in(const Window& w, F f) const {
    each([&](float x, int id) {
      const int bin = bin_of(x);
      if (bin < w.first_bin || bin > w.last_bin) return;
      const Place p = place_of(x, id);
      if (p >= w.first && p <= w.last) f(x, p);
    });
  }

  __device__ void load() {
    const float* const from = task_.logits + first_;
    if (task_.vectors) {
      constexpr int ahead = 8;
      const int n = count_ / 4;
      for (int i = int(threadIdx.x); i < n; i += ahead * threads) {
        float4 x[ahead];
#pragma unroll
        for (int k = 0; k < ahead; ++k)
          if (i + k * threads < n) x[k] = reinterpret_cast<const float4*>(from)[i + k * threads];
#pragma unroll
        for (int k = 0; k < ahead; ++k)
          if (i + k * threads < n) reinterpret_cast<float4*>(task_.held)[i + k * threads] = x[k];
      }
    } else {
#pragma unroll 8
      for (int i = int(threadIdx.x); i < count_; i += threads) task_.held[i] = from[i];
    }
    __syncthreads();
  }

  __device__ void adjust(const SampleControl& c) {
    team_.begun();
    team_.sync();
    for (int i = c.adjust_begin + team_.rank() * threads + int(threadIdx.x); i < c.adjust_end;
         i += Team::blocks * threads) {
      const SampleAdjust a = adjust_at(task_.adjusts, i);
      if (a.token < 0 || a.token >= task_.vocabulary) continue;
      const int owner = a.token / part_;
      *team_.at(task_.held + (a.token - owner * part_), owner) = adjusted(task_.logits[a.token], a, c);
    }
    team_.sync();
  }

  __device__ Part own_part() {
    float best = -INFINITY, least = INFINITY;
    int id = 0;
    bool broken = false;
#pragma unroll 4
    for (int i = int(threadIdx.x); i < count_; i += threads) {
      const float x = values_[i];
      broken |= !(x < INFINITY);
      if (x > best) best = x, id = first_ + i;
      if (x > -INFINITY) least = fminf(least, x);
    }
    Place place = place_of(best + 0.0f, id);
    for (int d = 16; d > 0; d /= 2) {
      place = min(place, Place(__shfl_xor_sync(0xffffffffu, place, d)));
      least = fminf(least, __shfl_xor_sync(0xffffffffu, least, d));
    }
    broken = __any_sync(0xffffffffu, broken);
    if (threadIdx.x % 32 == 0) {
      s_.warp[0][threadIdx.x / 32] = place;
      s_.warp[1][threadIdx.x / 32] = __float_as_uint(least);
      s_.warp[2][threadIdx.x / 32] = broken;
    }
    __syncthreads();
    Part all{~Place(0), INFINITY, false};
#pragma unroll 4
    for (int w = 0; w < warps; ++w) {
      all.best = min(all.best, Place(s_.warp[0][w]));
      all.least = fminf(all.least, __uint_as_float(std::uint32_t(s_.warp[1][w])));
      all.broken |= s_.warp[2][w] != 0;
    }
    return all;
  }

  __device__ Part whole(const Part& mine) {
    if (threadIdx.x < Team::blocks) of(int(threadIdx.x)).part[team_.rank()] = mine;
    team_.sync();
    Part all = s_.part[0];
    for (int r = 1; r < Team::blocks; ++r) {
      all.best = min(all.best, s_.part[r].best);
      all.least = fminf(all.least, s_.part[r].least);
      all.broken |= s_.part[r].broken;
    }
    return all;
  }

  __device__ void prepare(const SampleControl& c, const Part& row) {
    most_ = logit_at(row.best);
    inverse_ = 1 / double(c.temperature);
    const int bits = task_.vocabulary > 1 ? 32 - __clz(task_.vocabulary - 1) : 0;  // a sum stays below 2^62
    unit_ = double(std::uint64_t(1) << (62 - bits));
    bin_scale_ = float(bins - 1) / fminf(float(-nothing) * c.temperature, most_ - row.least);
  }
  __device__ double weight_of(float x) const {  // relative to the largest
    const double exponent = (double(x) - double(most_)) * inverse_;
    return exponent < nothing ? 0 : exp(exponent);
  }
  __device__ std::uint64_t units(double weight) const { return __double2ull_rn(weight * unit_); }
  __device__ int bin_of(float x) const {  // falls with x, whatever is rounded on the way
    const float below = most_ - x;
    return below > 0 ? int(fminf(below * bin_scale_, float(bins - 1))) : 0;
  }

  // Tokens that follow each other into one bin are added at once, so that a row of equals is no queue.
  struct Run {
    int bin = -1;
    std::uint32_t count = 0;
    std::uint64_t weight = 0;
  };
  __device__ void add(Run& run, int bin, std::uint64_t weight) {
    if (bin != run.bin) flush(run), run = {bin};
    ++run.count, run.weight += weight;
  }
  __device__ void flush(const Run& run) {
    if (run.bin < 0) return;
    atomicAdd(&s_.count[run.bin], run.count);
    const std::uint32_t low = std::uint32_t(run.weight);
    std::uint32_t high = std::uint32_t(run.weight >> 32);
    if (low && atomicAdd(&s_.low[run.bin], low) > ~low) ++high;  // it carries
    if (high) atomicAdd(&s_.high[run.bin], high);
  }
  template <int n> __device__ void clear_bins() {
    for (int i = int(threadIdx.x); i < n; i += threads) s_.count[i] = s_.low[i] = s_.high[i] = 0;
    __syncthreads();
  }
  // All parts' bins to the first block, each block summing a share of them; there they become running sums.
  template <class S> __device__ void gather_bins(S Shared::*to) {
    constexpr int share = S::size / Team::blocks;
    team_.sync();
    for (int i = int(threadIdx.x); i < share; i += threads) {
      const int bin = team_.rank() * share + i;
      std::uint32_t tokens = 0;
      std::uint64_t sum = 0;
#pragma unroll 4
      for (int r = 0; r < Team::blocks; ++r) {
        const Shared& s = of(r);
        tokens += s.count[bin];
        sum += (std::uint64_t(s.high[bin]) << 32) + s.low[bin];
      }
      S& sums = of(0).*to;
      sums.count[bin] = tokens, sums.weight[bin] = sum;
    }
    team_.sync();
    if (team_.rank() == 0) run_up(s_.*to);
  }
  template <class S> __device__ void run_up(S& sums) {
    constexpr int each = (S::size + threads - 1) / threads;
    const int begin = int(threadIdx.x) * each;
    std::uint64_t count = 0, weight = 0;
    for (int i = begin; i < begin + each && i < S::size; ++i) count += sums.count[i], weight += sums.weight[i];
    count = sum_before(count), weight = sum_before(weight);
    for (int i = begin; i < begin + each && i < S::size; ++i) {
      sums.count[i] = std::uint32_t(count += sums.count[i]);
      sums.weight[i] = weight += sums.weight[i];
    }
    __syncthreads();
  }
  __device__ std::uint64_t sum_before(std::uint64_t v) {  // of the threads before this one
    const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    std::uint64_t sum = v;
    for (int d = 1; d < 32; d *= 2) {
      const std::uint64_t other = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += other;
    }
    if (lane == 31) s_.warp[0][warp] = sum;
    __syncthreads();
    std::uint64_t before = 0;
#pragma unroll 4
    for (int w = 0; w < warps; ++w) before += w < warp ? s_.warp[0][w] : 0;
    __syncthreads();
    return before + sum - v;
  }

  __device__ void count_all(double min_p) {
    clear_bins<bins>();
    Run run;
    std::uint64_t kept = 0;
    each([&](float x, int) {
      const double w = weight_of(x);
      const std::uint64_t n = units(w);
      add(run, bin_of(x), n);
      if (!(w < min_p)) kept += n;
    });
    flush(run);
    for (int d = 16; d > 0; d /= 2) kept += __shfl_xor_sync(0xffffffffu, kept, d);
    if (threadIdx.x % 32 == 0) s_.warp[0][threadIdx.x / 32] = kept;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < warps; ++w) kept += s_.warp[0][w];
      of(0).kept[team_.rank()] = kept;
    }
    gather_bins(&Shared::all);
  }

  // What every block does at the first one's word.
  __device__ void execute(Command::Kind kind) {
    const Command& c = s_.command;
    switch (kind) {
      case Command::find_range: find_range(c.window); break;
      case Command::divide: divide(c.window, c.shift); break;
      case Command::collect: collect(c.window); break;
      case Command::end: break;
    }
  }
  __device__ void obey() {
    Command::Kind kind;
    do {
      team_.sync();
      kind = s_.command.kind;  // the next command may come as soon as this one is done
      execute(kind);
    } while (kind != Command::end);
  }
  __device__ void command(const Command& c) {
    __syncthreads();
    if (threadIdx.x < Team::blocks) of(int(threadIdx.x)).command = c;
    team_.sync();
    execute(c.kind);
  }

  __device__ void find_range(const Window& w) {
    Place low = ~Place(0), high = 0;
    each_in(w, [&](float, Place p) { low = min(low, p), high = max(high, p); });
    for (int d = 16; d > 0; d /= 2) {
      low = min(low, Place(__shfl_xor_sync(0xffffffffu, low, d)));
      high = max(high, Place(__shfl_xor_sync(0xffffffffu, high, d)));
    }
    if (threadIdx.x % 32 == 0) s_.warp[0][threadIdx.x / 32] = low, s_.warp[1][threadIdx.x / 32] = high;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < warps; ++i) low = min(low, Place(s_.warp[0][i])), high = max(high, Place(s_.warp[1][i]));
      of(0).range_first[team_.rank()] = low;
      of(0).range_last[team_.rank()] = high;
    }
    team_.sync();
  }
  __device__ void divide(const Window& w, int shift) {
    clear_bins<fine_bins>();
    Run run;
    each_in(w, [&](float x, Place p) { add(run, int((p - w.first) >> shift), units(weight_of(x))); });
    flush(run);
    gather_bins(&Shared::fine);
  }
  __device__ void collect(const Window& w) {
    if (threadIdx.x == 0) s_.found = 0;
    __syncthreads();
    each_in(w, [&](float, Place p) {
      const std::uint32_t at = atomicAdd(&s_.found, 1u);
      if (at < list_room) s_.weight[at] = p;
    });
    team_.sync();
    if (team_.rank() == 0) sort_list();
  }
  __device__ void sort_list() {
    if (threadIdx.x < Team::blocks) s_.end[threadIdx.x] = int(of(int(threadIdx.x)).found);
    __syncthreads();
    if (threadIdx.x == 0)
      for (int r = 1; r < Team::blocks; ++r) s_.end[r] += s_.end[r - 1];
    __syncthreads();
    held_ = min(s_.end[Team::blocks - 1], list_room);
    for (int i = int(threadIdx.x); i < held_; i += threads) {
      int owner = 0;
      while (i >= s_.end[owner]) ++owner;
      s_.list[i] = of(owner).weight[i - (owner > 0 ? s_.end[owner - 1] : 0)];
    }
    int room = 64;
    while (room < held_) room *= 2;
    for (int i = held_ + int(threadIdx.x); i < room; i += threads) s_.list[i] = ~Place(0);
    __syncthreads();
    // Bitonic (Batcher 1968). Pairs no more than 32 apart lie in 64 places that one warp handles alone.
    for (int size = 2; size <= room; size *= 2)
      for (int apart = size / 2; apart > 0; apart /= 2) {
        for (int pair = int(threadIdx.x); pair < room / 2; pair += threads) {
          const int i = 2 * pair - (pair & (apart - 1));
          const Place a = s_.list[i], b = s_.list[i + apart];
          if ((a > b) == ((i & size) == 0)) s_.list[i] = b, s_.list[i + apart] = a;
        }
        if (apart > 32 || (apart == 1 && size >= 64)) __syncthreads();
        else __syncwarp();
      }
    constexpr int each = list_room / threads;
    const int begin = int(threadIdx.x) * each;
    std::uint64_t weight[each], sum = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
      weight[k] = begin + k < held_ ? units(weight_of(logit_at(s_.list[begin + k]))) : 0;
      sum += weight[k];
    }
    std::uint64_t before = base_weight_ + sum_before(sum);
#pragma unroll
    for (int k = 0; k < each; ++k) s_.weight[begin + k] = before += weight[k];
    __syncthreads();
  }

  // The first of n running sums that is beyond the target.
  template <class T> __device__ int first_beyond(const T* running, int n, T target) {
    if (threadIdx.x == 0) s_.index = n - 1;
    __syncthreads();
    for (int i = int(threadIdx.x); i < n; i += threads)
      if (running[i] > target && (i == 0 || running[i - 1] <= target)) s_.index = i;
    __syncthreads();
    const int found = s_.index;
    __syncthreads();
    return found;
  }

  enum class By { count, weight };
  // The token with which the count, or the sum of weights, of all tokens in order first passes the target; the sum of
  // weights up to it.
  struct Cut {
    Place last;
    std::uint64_t weight;
  };
  __device__ Cut cut(By by, std::uint64_t target) {
    const bool there = held_ > 0 && (by == By::count ? target >= base_count_ && target < base_count_ + held_
                                                     : target >= base_weight_ && target < s_.weight[held_ - 1]);
    if (!there) fetch(by, target);
    const int i = by == By::count ? int(target - base_count_) : first_beyond(s_.weight, held_, target);
    return {s_.list[i], s_.weight[i]};
  }
  // Collects the tokens around the target: all up to its bin where they are few, else its bin's, or a part of it.
  __device__ void fetch(By by, std::uint64_t target) {
    const int bin = by == By::count ? first_beyond(s_.all.count, bins, std::uint32_t(target))
                                    : first_beyond(s_.all.weight, bins, target);
    Window w{bin, bin, 0, ~Place(0)};
    if (s_.all.count[bin] <= list_room) w.first_bin = 0;
    base_count_ = w.first_bin > 0 ? s_.all.count[w.first_bin - 1] : 0;
    base_weight_ = w.first_bin > 0 ? s_.all.weight[w.first_bin - 1] : 0;
    std::uint32_t tokens = s_.all.count[bin] - base_count_;
    while (tokens > list_room) {
      command({Command::find_range, w, 0});
      w.first = ~Place(0), w.last = 0;
      for (int r = 0; r < Team::blocks; ++r)
        w.first = min(w.first, s_.range_first[r]), w.last = max(w.last, s_.range_last[r]);
      const int shift = max(0, 64 - __clzll((long long)(w.last - w.first)) - 9);
      static_assert(fine_bins == 1 << 9);
      command({Command::divide, w, shift});
      const int fine = by == By::count ? first_beyond(s_.fine.count, fine_bins, std::uint32_t(target - base_count_))
                                       : first_beyond(s_.fine.weight, fine_bins, target - base_weight_);
      tokens = s_.fine.count[fine];
      if (fine > 0) {
        tokens -= s_.fine.count[fine - 1];
        base_count_ += s_.fine.count[fine - 1], base_weight_ += s_.fine.weight[fine - 1];
      }
      w.first += Place(fine) << shift;
      w.last = min(w.last, w.first + ((Place(1) << shift) - 1));
    }
    command({Command::collect, w, 0});
  }

  __device__ void draw(const SampleControl& c) {
    enum Step : int { top_k, top_p, token };
    std::uint64_t left = s_.all.weight[bins - 1];
    Cut found{};
#pragma unroll 1
    for (int step = top_k; step <= token; ++step) {  // a loop, because what it calls is much code to have three times
      std::uint64_t target = 0;
      if (step == top_k) {
        if (c.top_k <= 0 || std::uint32_t(c.top_k) >= s_.all.count[bins - 1]) continue;
        target = std::uint64_t(c.top_k - 1);
      } else if (step == top_p) {  // the sum reaches `wanted` where it passes the integer before it
        if (!(c.top_p < 1)) continue;
        const double wanted = double(c.top_p) * double(left);
        if (wanted >= 1) target = std::uint64_t(ceil(wanted)) - 1;
      } else {
        if (c.min_p > 0) left = min(left, weight_above_min_p());
        target = min(std::uint64_t(uniform_at(c.seed, c.position) * double(left)), left - 1);
      }
      found = cut(step == top_k ? By::count : By::weight, target);
      left = found.weight;
    }
    if (threadIdx.x == 0) *task_.token = std::int32_t(std::uint32_t(found.last));
    command({Command::end, {}, 0});
  }
  __device__ std::uint64_t weight_above_min_p()
      const {  // also one of the first tokens in order, and the first at least
    std::uint64_t kept = 0;
    for (int r = 0; r < Team::blocks; ++r) kept += s_.kept[r];
    return max(kept, std::uint64_t(unit_));
  }

  const Team& team_;
  const RowTask& task_;
  Shared& s_;
  const float* values_ = nullptr;  // of this part
  std::int32_t part_, first_, count_;
  float most_ = 0, bin_scale_ = 0;
  double inverse_ = 0, unit_ = 0;
  // The first block's: what its list holds.
  int held_ = 0;
  std::uint32_t base_count_ = 0;
  std::uint64_t base_weight_ = 0;
};

}  // namespace ridge::op::sampler
