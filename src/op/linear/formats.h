// How each block format's panel parts become codes and scales: one struct per format, over the vectors of the
// simd_*.h that was included before. A weight is scale * code + shift, for each half of the 32 columns of a part where
// the format has scales of 16, else for all of them.
template <int Halves> struct Part {
  I code[8];  // group g of the 32 columns
  F scale[Halves];
  F shift[Halves];  // of formats with minimums; others have -offset * scale
};

template <int Low> RIDGE_INLINE void unpack_low(const std::byte* p, I* code) {
  if constexpr (Low == 8) {
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) code[g] = load(p + 64 * g);
  } else if constexpr (Low == 4) {
    const I mask = every_byte(15);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const I v = load(p + 64 * j);
      code[j] = bit_and(v, mask);
      code[j + 4] = bit_and(shift<-4>(v), mask);
    }
  } else {
    const I mask = every_byte(3);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const I v = load(p + 64 * j);
      code[4 * j] = bit_and(v, mask);
      code[4 * j + 1] = bit_and(shift<-2>(v), mask);
      code[4 * j + 2] = bit_and(shift<-4>(v), mask);
      code[4 * j + 3] = bit_and(shift<-6>(v), mask);
    }
  }
}

// Adds the high bits above the `Low` low ones.
template <int Low, int High, int G> RIDGE_INLINE I high_of(I v) {
  return bit_and(shift<Low - High*(High == 1 ? G : G % 4)>(v), every_byte(((1 << High) - 1) << Low));
}
template <int Low, int High> RIDGE_INLINE void unpack_high(const std::byte* p, I* code) {
  if constexpr (High > 0) {
    const I a = load(p), b = High == 1 ? a : load(p + 64);
    code[0] = bit_or(code[0], high_of<Low, High, 0>(a));
    code[1] = bit_or(code[1], high_of<Low, High, 1>(a));
    code[2] = bit_or(code[2], high_of<Low, High, 2>(a));
    code[3] = bit_or(code[3], high_of<Low, High, 3>(a));
    code[4] = bit_or(code[4], high_of<Low, High, 4>(b));
    code[5] = bit_or(code[5], high_of<Low, High, 5>(b));
    code[6] = bit_or(code[6], high_of<Low, High, 6>(b));
    code[7] = bit_or(code[7], high_of<Low, High, 7>(b));
  }
}

// What a format says about itself beside its layout; `header` and `side` point at this vector's lanes.
template <const PanelLayout& L> struct Format {
  static constexpr const PanelLayout& layout = L;
  static constexpr int halves = 1;  // scales per 32 columns
  static constexpr int max_code = (1 << (L.low_bits + L.high_bits)) - 1;
  static constexpr int offset = L.offset;  // subtracted from the code; 0 where `has_minimum`
  static constexpr bool has_minimum = false;
  RIDGE_INLINE static void map(I*) {}  // codes that are indices become values
};

RIDGE_INLINE F second_half(const std::byte* header) { return load_f16(header + 2 * panel_rows); }

struct Q8_0 : Format<q8_0_layout> {
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F*) {
    scale[0] = load_f16(header);
  }
};
struct Q4_0 : Format<q4_0_layout> {
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F*) {
    scale[0] = load_f16(header);
  }
};
struct Q4_1 : Format<q4_1_layout> {
  static constexpr bool has_minimum = true;
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F* minimum) {
    scale[0] = load_f16(header);
    minimum[0] = second_half(header);
  }
};
struct Q5_0 : Format<q5_0_layout> {
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F*) {
    scale[0] = load_f16(header);
  }
};
struct Q5_1 : Format<q5_1_layout> {
  static constexpr bool has_minimum = true;
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F* minimum) {
    scale[0] = load_f16(header);
    minimum[0] = second_half(header);
  }
};
struct Q2_K : Format<q2_k_layout> {
  static constexpr int halves = 2;
  static constexpr bool has_minimum = true;
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte* side, F* scale, F* minimum) {
    const F d = load_f16(header), less = mul(second_half(header), every(-1));
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const I both = load_u8(side + panel_rows * h);
      scale[h] = mul(d, to_float(bit_and(both, every_int(15))));
      minimum[h] = mul(less, to_float(shift_int<-4>(both)));
    }
  }
};
template <const PanelLayout& L> struct SignedHalves : Format<L> {  // 16 columns to a signed scale
  static constexpr int halves = 2;
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte* side, F* scale, F*) {
    const F d = load_f16(header);
    scale[0] = mul(d, to_float(load_i8(side)));
    scale[1] = mul(d, to_float(load_i8(side + panel_rows)));
  }
};
struct Q3_K : SignedHalves<q3_k_layout> {};
struct Q6_K : SignedHalves<q6_k_layout> {};
template <const PanelLayout& L> struct ScaleAndMinimum : Format<L> {  // 32 columns to a scale and a minimum
  static constexpr bool has_minimum = true;
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte* side, F* scale, F* minimum) {
    scale[0] = mul(load_f16(header), to_float(load_u8(side)));
    minimum[0] = mul(mul(second_half(header), every(-1)), to_float(load_u8(side + panel_rows)));
  }
};
struct Q4_K : ScaleAndMinimum<q4_k_layout> {};
struct Q5_K : ScaleAndMinimum<q5_k_layout> {};

// The tables' values (tensor/blocks.h), raised by `offset` so that they are unsigned.
struct RaisedTable {
  std::int8_t code[16];
  constexpr RaisedTable(const std::int8_t (&values)[16], int offset) : code{} {
    for (int i = 0; i < 16; ++i) code[i] = std::int8_t(std::uint8_t(values[i] + offset));
  }
};
inline constexpr RaisedTable iq4_codes(iq4_values, 128), mxfp4_codes(mxfp4_values, 12);

template <const PanelLayout& L> struct Iq4 : Format<L> {
  static constexpr int max_code = 255, offset = 128;
  RIDGE_INLINE static void map(I* code) {
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) code[g] = lookup(iq4_codes.code, code[g]);
  }
};
struct IQ4_NL : Iq4<iq4_nl_layout> {
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte*, F* scale, F*) {
    scale[0] = load_f16(header);
  }
};
struct IQ4_XS : Iq4<iq4_xs_layout> {
  RIDGE_INLINE static void scales(const std::byte* header, const std::byte* side, F* scale, F*) {
    scale[0] = mul(load_f16(header), to_float(load_i8(side)));
  }
};
struct MXFP4 : Format<mxfp4_layout> {
  static constexpr int max_code = 24, offset = 12;
  RIDGE_INLINE static void map(I* code) {
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) code[g] = lookup(mxfp4_codes.code, code[g]);
  }
  // 2^(e - 128): the values are doubled
  RIDGE_INLINE static void scales(const std::byte*, const std::byte* side, F* scale, F*) {
    const I e = load_u8(side);
    const I normal = shift_int<23>(sub_int(e, every_int(1)));
    const I small = select_equal(e, every_int(1), every_int(0x00400000), normal);
    scale[0] = as_float(select_equal(e, every_int(0), every_int(0x00200000), small));
  }
};

// A part for products with floats: shift set in every format.
template <class W> RIDGE_INLINE void unpack(const std::byte* unit, int part, int lane, Part<W::halves>& out) {
  constexpr const PanelLayout& l = W::layout;
  const std::byte* p = unit + l.header_bytes() + part * l.part_bytes();
  unpack_low<l.low_bits>(p + 4 * lane, out.code);
  unpack_high<l.low_bits, l.high_bits>(p + l.low_bytes() + 4 * lane, out.code);
  W::map(out.code);
  W::scales(unit + 2 * lane, p + l.low_bytes() + l.high_bytes() + lane, out.scale, out.shift);
}

// Plain types: the values of one column.
struct F32 {
  static constexpr int bytes = 4;
  RIDGE_INLINE static F values(const std::byte* p) { return load_f32(p); }
};
struct F16 {
  static constexpr int bytes = 2;
  RIDGE_INLINE static F values(const std::byte* p) { return load_f16(p); }
};
struct BF16 {
  static constexpr int bytes = 2;
  RIDGE_INLINE static F values(const std::byte* p) { return load_bf16(p); }
};
struct F8 {  // e4m3 without infinities: sign, 4 bits of exponent (bias 7), 3 of mantissa; 0x7f and 0xff are NaN
  static constexpr int bytes = 1;
  RIDGE_INLINE static F values(const std::byte* p) {
    const I v = load_u8(p), rest = bit_and(v, every_int(127)), sign = shift_int<24>(bit_and(v, every_int(128)));
    const I normal = sub_int(shift_int<20>(rest), every_int(-(120 << 23)));
    const I small = as_int(mul(to_float(rest), every(0x1p-9f)));
    const I number = select_equal(bit_and(rest, every_int(0x78)), every_int(0), small, normal);
    return as_float(bit_or(select_equal(rest, every_int(127), every_int(0x7fc00000), number), sign));
  }
};
