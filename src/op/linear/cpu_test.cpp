// Every kernel against float64 of the plain decoders, and bitwise against every other way to compute the same.
#include "op/linear/cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "hw/cpu.h"
#include "op/linear/panel.h"
#include "tensor/float16.h"

namespace ridge::op {
namespace {

std::vector<LinearIsa> isas_here() {
  std::vector<LinearIsa> list{LinearIsa::scalar};
  const hw::Isa& has = hw::isa();
  if (has.avx2) list.push_back(LinearIsa::avx2);
  if (has.avx_vnni) list.push_back(LinearIsa::avx_vnni);
  if (has.avx512) list.push_back(LinearIsa::avx512);
  if (has.vnni) list.push_back(LinearIsa::avx512_vnni);
  return list;
}

// Where a block holds half floats, or (MXFP4) an exponent: random bytes there would be infinities.
std::vector<int> half_offsets(DType type) {
  switch (type) {
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k: return {0, 2};
    case DType::q2_k: return {80, 82};
    case DType::q3_k: return {108};
    case DType::q6_k: return {208};
    case DType::mxfp4: return {};
    default: return {0};
  }
}

struct Weights {
  DType type;
  std::int64_t rows, columns;
  std::vector<std::byte> file, panels;
  std::vector<float> values;  // decoded
};

Weights make_weights(DType type, std::int64_t rows, std::int64_t columns, std::mt19937& random) {
  Weights w{type, rows, columns, {}, {}, {}};
  const DTypeInfo& t = info(type);
  std::normal_distribution<float> normal;
  w.file.resize(std::size_t(rows * row_bytes(type, columns)));
  if (is_block(type)) {
    for (std::byte& b : w.file) b = std::byte(random());
    for (std::size_t at = 0; at < w.file.size(); at += std::size_t(t.block_bytes)) {
      for (int offset : half_offsets(type)) {
        const std::uint16_t half = float_to_half(0.01f * normal(random));
        std::memcpy(&w.file[at + std::size_t(offset)], &half, 2);
      }
      if (type == DType::mxfp4) w.file[at] = std::byte(random() % 4 ? 118 + random() % 10 : random() % 3);
    }
  } else {
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (float& v : row) v = 0.1f * normal(random);
      t.encode(row.data(), &w.file[std::size_t(r * row_bytes(type, columns))], columns);
    }
  }
  w.values.resize(std::size_t(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r)
    t.decode(&w.file[std::size_t(r * row_bytes(type, columns))], &w.values[std::size_t(r * columns)], columns);
  w.panels.resize(std::size_t(packed_bytes(type, rows, columns)));
  const Matrix m{w.file.data(), type, rows, columns};
  for (std::int64_t panel = panel_count(rows); panel-- > 0;) pack_panels(m, panel, panel + 1, w.panels.data());
  return w;
}

struct Activations {
  DType type;
  std::int64_t tokens, columns;
  std::vector<std::byte> bytes;
  std::vector<float> values;  // decoded
};

Activations make_activations(DType type, std::int64_t tokens, std::int64_t columns, std::mt19937& random) {
  Activations x{type, tokens, columns, {}, {}};
  std::normal_distribution<float> normal;
  x.values.resize(std::size_t(tokens * columns));
  for (float& v : x.values) v = normal(random);
  x.bytes.resize(std::size_t(tokens * row_bytes(type, columns)));
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::byte* row = &x.bytes[std::size_t(t * row_bytes(type, columns))];
    info(type).encode(&x.values[std::size_t(t * columns)], row, columns);
    info(type).decode(row, &x.values[std::size_t(t * columns)], columns);
  }
  return x;
}

struct Part {  // what is computed in one call
  std::int64_t first_panel, last_panel, token, end;
};

void multiply(LinearIsa isa, const Weights& w, const Activations& x, const Part& part, std::vector<float>& out) {
  const std::int64_t stride = row_bytes(x.type, x.columns);
  const LinearKernels& kernels = linear_kernels(isa, w.type);
  (x.type == DType::q8_act ? kernels.q8 : kernels.f32)({.panels = w.panels.data(),
                                                        .rows = w.rows,
                                                        .columns = w.columns,
                                                        .x = x.bytes.data() + part.token * stride,
                                                        .x_stride = stride,
                                                        .out = out.data() + part.token * w.rows,
                                                        .out_stride = w.rows,
                                                        .first_panel = part.first_panel,
                                                        .last_panel = part.last_panel,
                                                        .tokens = part.end - part.token});
}

std::vector<float> multiply(LinearIsa isa, const Weights& w, const Activations& x) {
  std::vector<float> out(std::size_t(x.tokens * w.rows), NAN);
  multiply(isa, w, x, {0, panel_count(w.rows), 0, x.tokens}, out);
  return out;
}

// The largest error of an element, in units of the sum of the magnitudes of what was added up for it.
double worst_error(const Weights& w, const Activations& x, const std::vector<float>& out) {
  double worst = 0;
  for (std::int64_t t = 0; t < x.tokens; ++t)
    for (std::int64_t n = 0; n < w.rows; ++n) {
      double sum = 0, magnitude = 1e-30;
      for (std::int64_t k = 0; k < w.columns; ++k) {
        const double product =
            double(w.values[std::size_t(n * w.columns + k)]) * x.values[std::size_t(t * w.columns + k)];
        sum += product, magnitude += std::fabs(product);
      }
      const double error = std::fabs(out[std::size_t(t * w.rows + n)] - sum) / magnitude;
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<std::int64_t> column_counts(DType type) {
  if (!is_block(type)) return {1, 2, 33, 96};
  return info(type).block_elems == 32 ? std::vector<std::int64_t>{7, 32, 33, 96, 350}
                                      : std::vector<std::int64_t>{40, 256, 300, 512};
}

template <class F> void for_each_type(F f) {
  for (const DTypeInfo& type : all_dtypes())
    if (has_panels(type.id)) f(type.id);
}

}  // namespace

TEST(linear_kernels, agree_with_float64_and_bitwise_with_each_other) {
  std::mt19937 random(11);
  for_each_type([&](DType type) {
    for (std::int64_t columns : column_counts(type))
      for (std::int64_t rows : {1, 15, 16, 17, 33}) {
        const Weights w = make_weights(type, rows, columns, random);
        for (DType act : {DType::q8_act, DType::f32}) {
          if (act == DType::q8_act && !is_block(type)) continue;
          for (std::int64_t tokens : {1, 2, 3, 7, 8, 17, 65}) {
            SCOPED_TRACE(fmt::format("{} ({}, {}) x {} {}", name(type), rows, columns, tokens, name(act)));
            const Activations x = make_activations(act, tokens, columns, random);
            const std::vector<float> plain = multiply(LinearIsa::scalar, w, x);
            EXPECT_LE(worst_error(w, x, plain), 5e-7);
            for (LinearIsa isa : isas_here()) EXPECT_TRUE(same(plain, multiply(isa, w, x))) << name(isa);
          }
        }
      }
  });
}

TEST(linear_kernels, parts_of_the_work_give_the_same_as_the_whole) {
  std::mt19937 random(12);
  for_each_type([&](DType type) {
    const Weights w = make_weights(type, 80, 544, random);
    for (DType act : {DType::q8_act, DType::f32}) {
      if (act == DType::q8_act && !is_block(type)) continue;
      const Activations x = make_activations(act, 41, 544, random);
      for (LinearIsa isa : isas_here()) {
        SCOPED_TRACE(fmt::format("{} x {} {}", name(type), name(act), name(isa)));
        const std::vector<float> whole = multiply(isa, w, x);
        for (std::int64_t step : {1, 2, 3, 5, 8, 13}) {
          std::vector<float> out(whole.size(), NAN);
          for (std::int64_t token = 0; token < 41; token += step)
            for (std::int64_t panel = 0; panel < 5; panel += 1 + step % 3)
              multiply(isa, w, x,
                       {panel, std::min<std::int64_t>(panel + 1 + step % 3, 5), token,
                        std::min<std::int64_t>(token + step, 41)},
                       out);
          EXPECT_TRUE(same(whole, out)) << "tokens by " << step;
        }
      }
    }
  });
}

TEST(linear_panels, rows_decode_as_in_the_file) {
  std::mt19937 random(13);
  for_each_type([&](DType type) {
    for (std::int64_t columns : column_counts(type)) {
      const Weights w = make_weights(type, 33, columns, random);
      std::vector<float> row(static_cast<std::size_t>(columns));
      for (std::int64_t r = 0; r < w.rows; ++r) {
        decode_panel_row(w.panels.data(), type, columns, r, row.data());
        for (std::int64_t k = 0; k < columns; ++k)
          ASSERT_EQ(row[std::size_t(k)], w.values[std::size_t(r * columns + k)])
              << name(type) << " row " << r << " column " << k;
      }
    }
  });
}

TEST(linear_panels, packed_weights_are_hardly_larger_than_the_file) {
  for_each_type([&](DType type) {
    EXPECT_LE(double(packed_bytes(type, 160, 1536)), 1.04 * double(160 * row_bytes(type, 1536))) << name(type);
  });
}

}  // namespace ridge::op
