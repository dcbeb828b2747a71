// The block formats of 32 columns, for the frame of matvec_blocks.cuh. Fields: tensor/planes.h; formulas:
// tensor/blocks.h.
#include "op/linear/matvec_blocks.cuh"

namespace ridge::op::matvec_blocks {
namespace {

// One half for each block. Lanes that scale every other sum (`single`) have groups 2 t and 2 t + 1 of the 8.
template <bool single> struct Halves {
  unsigned pair[lane_sums<single>(2)];
  template <class Which> __device__ __forceinline__ void load(const std::byte* plane, const Place& at, Which which) {
#pragma unroll
    for (int k = 0; k < lane_sums<single>(2); ++k)
      pair[k] = two_halves(plane, at, single ? 2 * at.t : 4 * k + 2 * (at.t % 2), which);
  }
  __device__ __forceinline__ void scales(int k, Scales& to) const {
    const float2 d = halves_of(pair[k]);
    to.scale[0] = d.x, to.scale[1] = d.y;
  }
};

// A scale and a minimum.
template <bool single> struct TwoHalves {
  uint2 pair[lane_sums<single>(2)];
  template <class Which> __device__ __forceinline__ void load(const std::byte* plane, const Place& at, Which which) {
#pragma unroll
    for (int k = 0; k < lane_sums<single>(2); ++k)
      pair[k] = two_words(plane, at, single ? 2 * at.t : 4 * k + 2 * (at.t % 2), which);
  }
  __device__ __forceinline__ void scales(int k, Scales& to) const {
    const float2 first = halves_of(pair[k].x), second = halves_of(pair[k].y);
    to.scale[0] = first.x, to.scale[1] = second.x;
    to.minimum[0] = first.y, to.minimum[1] = second.y;
  }
};

// 2^(e - 128): the values of the table are doubled.
template <bool single> struct Exponents {
  unsigned pair[lane_sums<single>(2)];
  template <class Which> __device__ __forceinline__ void load(const std::byte* plane, const Place& at, Which which) {
#pragma unroll
    for (int k = 0; k < lane_sums<single>(2); ++k) {
      const int i = single ? 2 * at.t : 4 * k + 2 * (at.t % 2);
      if (Which::always || which.pairs) pair[k] = load2(item(plane, at.block + which(i + 1) - 1, 1));
      else pair[k] = load1(item(plane, at.block + which(i), 1)) | load1(item(plane, at.block + which(i + 1), 1)) << 8;
    }
  }
  __device__ __forceinline__ static float power(unsigned e) {
    return __uint_as_float(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  }
  __device__ __forceinline__ void scales(int k, Scales& to) const {
    to.scale[0] = power(pair[k] & 255), to.scale[1] = power(pair[k] >> 8);
  }
};

struct LegacyBase : FormatBase {
  static constexpr int piece_blocks = act_piece_blocks;
};

struct Q8_0 : LegacyBase, Bytes32 {
  static constexpr int depth = 3;
  static constexpr bool wide = false, is_signed = true;
  template <bool single> struct Piece {
    uint4 q[4];
    Halves<single> d;
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    within_row(at, [&](auto which) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        p.q[i] = stream16(item(plane[1], 2 * (at.block + which(2 * i + at.t / 2)) + at.t % 2, 16));
      p.d.load(plane[0], at, which);
    });
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int part, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = word(p.q[2 * s + part], i);
  }
  template <bool single> __device__ __forceinline__ static void scales(const Piece<single>& p, int, int k, Scales& to) {
    p.d.scales(k, to);
  }
};

// 4 bits, and what a block has beside them.
template <template <bool> class Header> struct Nibbles : LegacyBase, Blocks32 {
  static constexpr int depth = 4;
  static constexpr bool wide = true;
  template <bool single> struct Piece {
    uint4 q[2];
    Header<single> header;
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    load(p, plane[0], plane[1], at);
  }
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* header, const std::byte* q, const Place& at) {
    within_row(at, [&](auto which) {
#pragma unroll
      for (int s = 0; s < 2; ++s) p.q[s] = stream16(item(q, at.block + which(4 * s + at.t), 16));
      p.header.load(header, at, which);
    });
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int part, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = (word(p.q[s], i) >> 4 * part) & low_nibbles;
  }
  template <bool single> __device__ __forceinline__ static void scales(const Piece<single>& p, int, int k, Scales& to) {
    p.header.scales(k, to);
  }
};
struct Q4_0 : Nibbles<Halves> {
  static constexpr int offset = 8;
  static constexpr Beside beside = Beside::zero_point;
};
struct Q4_1 : Nibbles<TwoHalves> {
  static constexpr Beside beside = Beside::minimum;
};

// The fifth bits of 4 codes, from bit 4 i of `high`, to bit 4 of their bytes: code i's bit moves by 7 i + 4.
__device__ __forceinline__ unsigned fifth_bits(unsigned high, int i) {
  return ((high >> 4 * i) & 15) * 0x02040810u & 0x10101010u;
}

template <template <bool> class Header> struct FiveBits : Nibbles<Header> {
  using Four = Nibbles<Header>;
  static constexpr int depth = 3;
  static constexpr bool wide = false;
  template <bool single> struct Piece {
    typename Four::template Piece<single> four;
    unsigned high[2];
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    Four::load(p.four, plane[0], plane[2], at);
    within_row(at, [&](auto which) {
#pragma unroll
      for (int s = 0; s < 2; ++s) p.high[s] = load4(item(plane[1], at.block + which(4 * s + at.t), 4));
    });
  }
  template <class P>
  __device__ __forceinline__ static void codes(const P& p, int t, int s, int part, unsigned (&w)[4]) {
    Four::codes(p.four, t, s, part, w);
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] |= fifth_bits(p.high[s], 4 * part + i);
  }
  template <bool single> __device__ __forceinline__ static void scales(const Piece<single>& p, int, int k, Scales& to) {
    p.four.header.scales(k, to);
  }
};
struct Q5_0 : FiveBits<Halves> {
  static constexpr int offset = 16;
  static constexpr Beside beside = Beside::zero_point;
};
struct Q5_1 : FiveBits<TwoHalves> {
  static constexpr Beside beside = Beside::minimum;
};

template <template <bool> class Header, const std::int8_t (&table)[16]> struct Table : Nibbles<Header> {
  static constexpr bool is_signed = true, wide = false;
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int part, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = four_of_table<table>(word(p.q[s], i), part);
  }
};
using IQ4_NL = Table<Halves, iq4_values>;
using MXFP4 = Table<Exponents, mxfp4_values>;

}  // namespace

LaunchFormat legacy_launch(DType type) {
  switch (type) {
    case DType::q8_0: return launch_format<Q8_0>;
    case DType::q4_0: return launch_format<Q4_0>;
    case DType::q4_1: return launch_format<Q4_1>;
    case DType::q5_0: return launch_format<Q5_0>;
    case DType::q5_1: return launch_format<Q5_1>;
    case DType::iq4_nl: return launch_format<IQ4_NL>;
    case DType::mxfp4: return launch_format<MXFP4>;
    default: return nullptr;
  }
}

}  // namespace ridge::op::matvec_blocks
