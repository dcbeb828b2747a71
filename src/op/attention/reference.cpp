#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "op/attention/attention.h"
#include "op/attention/kernels.h"
#include "op/kv_store/kv_layout.h"
#include "op/store_row.h"
#include "tensor/float16.h"

namespace ridge::op {
namespace {

// One query head over `keys` keys of which it sees [first, keys); key(j, i) and value(j, i) read element i of the
// j-th of them. Softmax in double, the largest score taken off first.
template <class Key, class Value>
void attend(const float* q, float* out, std::int64_t d, std::int64_t first, std::int64_t keys,
            const AttentionParams& params, Key key, Value value) {
  std::vector<double> weight(keys - first);
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::int64_t j = first; j < keys; ++j) {
    double s = 0;
    for (std::int64_t i = 0; i < d; ++i) s += double(q[i]) * key(j, i);
    s *= params.scale;
    if (params.softcap != 0) s = params.softcap * std::tanh(s / params.softcap);
    weight[j - first] = s;
    most = std::max(most, s);
  }
  for (double& w : weight) total += w = std::exp(w - most);
  for (std::int64_t i = 0; i < d; ++i) {
    double sum = 0;
    for (std::int64_t j = first; j < keys; ++j) sum += weight[j - first] * value(j, i);
    out[i] = float(sum / total);
  }
}

std::int64_t first_seen(std::int64_t position, std::int64_t window) {
  return window > 0 ? std::max<std::int64_t>(0, position + 1 - window) : 0;
}

}  // namespace

void attention_ref(const ir::Bound& b) {
  const auto& params = b.as<AttentionParams>();
  const View q = b.in[0], state = b.in[1], out = b.out[0];
  const std::int32_t *start = b.in[2].as<std::int32_t>(), *context = b.in[3].as<std::int32_t>();
  const KvLayout at(state);
  const std::int64_t d = at.head_dim, heads = q.columns() / d, group = heads / at.heads;
  std::vector<float> row(q.columns());
  auto load = [&](std::int64_t index) {
    return state.dtype == DType::f16 ? half_to_float(state.as<std::uint16_t>()[index]) : state.as<float>()[index];
  };
  for (std::int64_t s = 0; s < b.in[3].dim(0); ++s) {
    const std::int32_t* blocks = b.in[4].row_as<std::int32_t>(s);
    for (std::int64_t t = start[s]; t < start[s + 1]; ++t) {
      const std::int64_t position = context[s] - (start[s + 1] - t);
      const std::int64_t keys = params.causal ? position + 1 : context[s];
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t kv = h / group;
        auto key = [&](std::int64_t j, std::int64_t i) {
          return load(at.keys(blocks[j / at.block_size], kv) + at.key_at(j % at.block_size, i));
        };
        auto value = [&](std::int64_t j, std::int64_t i) {
          return load(at.values(blocks[j / at.block_size], kv) + at.value_at(j % at.block_size, i));
        };
        attend(q.row_as<float>(t) + h * d, &row[h * d], d, first_seen(position, params.window), keys, params, key,
               value);
      }
      store_row(row.data(), out, t);
    }
  }
}

void attention_uncached_ref(const ir::Bound& b) {
  const auto& params = b.as<AttentionParams>();
  const View q = b.in[0], k = b.in[1], v = b.in[2], out = b.out[0];
  const std::int32_t* start = b.in[3].as<std::int32_t>();
  const std::int64_t d = params.head_dim, heads = q.columns() / d, group = heads / (k.columns() / d);
  std::vector<float> row(q.columns());
  for (std::int64_t s = 0; s + 1 < b.in[3].dim(0); ++s)
    for (std::int64_t t = start[s]; t < start[s + 1]; ++t) {
      const std::int64_t position = t - start[s];
      const std::int64_t keys = params.causal ? position + 1 : start[s + 1] - start[s];
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t kv = h / group * d;
        auto key = [&](std::int64_t j, std::int64_t i) { return k.row_as<float>(start[s] + j)[kv + i]; };
        auto value = [&](std::int64_t j, std::int64_t i) { return v.row_as<float>(start[s] + j)[kv + i]; };
        attend(q.row_as<float>(t) + h * d, &row[h * d], d, first_seen(position, params.window), keys, params, key,
               value);
      }
      store_row(row.data(), out, t);
    }
}

}  // namespace ridge::op
