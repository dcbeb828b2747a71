// The block formats of 256 columns, for the frame of matvec_blocks.cuh: a piece is a block of each row. Fields:
// tensor/planes.h; formulas: tensor/blocks.h.
#include "op/linear/matvec_blocks.cuh"

namespace ridge::op::matvec_blocks {
namespace {

struct KBase : FormatBase {
  static constexpr int piece_blocks = 1;
};

// 32 columns to a scale and a minimum of 6 bits each.
struct ScalesAndMinimums : KBase, Pairs64 {
  static constexpr Beside beside = Beside::minimum;
  static constexpr int minimum_sign = -1;
  // `header`: d, m, then the 12 bytes of k_scale and k_minimum. A word has those of 4 groups.
  template <bool single> __device__ __forceinline__ static void unpack(const uint4& header, int t, int k, Scales& to) {
    const float2 dm = halves_of(header.x);
    const unsigned a = header.y, b = header.z, c = header.w;
    const unsigned scale[2] = {a & 0x3f3f3f3fu, (c & low_nibbles) | ((a >> 2) & 0x30303030u)};
    const unsigned minimum[2] = {b & 0x3f3f3f3fu, ((c >> 4) & low_nibbles) | ((b >> 2) & 0x30303030u)};
    const bool second = lane_sum<single>(k, t) == 1;
    const unsigned scales = second ? scale[1] : scale[0], minimums = second ? minimum[1] : minimum[0];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      to.scale[i] = dm.x * byte_float(scales, 2 * (t % 2) + i);
      to.minimum[i] = dm.y * byte_float(minimums, 2 * (t % 2) + i);
    }
  }
};

struct Q4_K : ScalesAndMinimums {
  static constexpr int depth = 4;
  static constexpr bool wide = true, high_in_place = true;
  template <bool> struct Piece { uint4 q[2], header; };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    p.q[0] = stream16(item(plane[1], 8 * at.block + at.t, 16));
    p.q[1] = stream16(item(plane[1], 8 * at.block + at.t, 16) + 64);
    p.header = load16(item(plane[0], at.block, 16));
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int part, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = word(p.q[s], i) & low_nibbles << 4 * part;
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    unpack<single>(p.header, t, k, to);
  }
};

struct Q5_K : ScalesAndMinimums {
  static constexpr int depth = 3;
  static constexpr bool wide = false;
  template <bool> struct Piece {
    uint4 q[2], high, header;  // high: bit g of a byte is of group g
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    p.q[0] = stream16(item(plane[2], 8 * at.block + at.t, 16));
    p.q[1] = stream16(item(plane[2], 8 * at.block + at.t, 16) + 64);
    p.high = load16(item(plane[1], 2 * at.block + at.t % 2, 16));
    p.header = load16(item(plane[0], at.block, 16));
  }
  template <class P>
  __device__ __forceinline__ static void codes(const P& p, int t, int s, int part, unsigned (&w)[4]) {
    const int bit = 4 * s + part;  // and 2 more for lanes 2 and 3
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned high = word(p.high, i) >> 2 * (t / 2);
      w[i] = ((word(p.q[s], i) >> 4 * part) & low_nibbles) |
             ((bit < 4 ? high << (4 - bit) : high >> (bit - 4)) & 0x10101010u);
    }
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    unpack<single>(p.header, t, k, to);
  }
};

// Lane t has, of the block's half t / 2, the codes t % 2 of each 32: they share 16 bytes of high bits.
struct Q6_K : KBase, Groups16 {
  static constexpr int depth = 3, offset = 32;
  static constexpr bool wide = false;
  static constexpr Beside beside = Beside::zero_point;
  template <bool> struct Piece {
    uint4 q[2], high;
    uint2 scales;  // of the half t % 2
    unsigned d;
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    const int q = 8 * at.block + at.t + 2 * (at.t / 2);  // 4 (t / 2) + t % 2
    p.q[0] = stream16(item(plane[0], q, 16)), p.q[1] = stream16(item(plane[0], q, 16) + 32);
    p.high = stream16(item(plane[1], 4 * at.block + at.t, 16));
    p.scales = load8(item(plane[2], 2 * at.block + at.t % 2, 8));
    p.d = load2(item(plane[3], at.block, 2));
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned high = word(p.high, i);
      w[i] = ((word(p.q[s % 2], i) >> (s / 2 * 4)) & low_nibbles) |
             ((s < 2 ? high << (4 - 2 * s) : high >> (2 * s - 4)) & 0x30303030u);
    }
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    const float d = half_of(p.d);
    const unsigned four = word(p.scales, single ? k : k / 2) ^ 0x80808080u;  // of sums 0 and 1, or 2 and 3
#pragma unroll
    for (int i = 0; i < 2; ++i) to.scale[i] = d * byte_float(four, lane_sum<single>(k, t) % 2 * 2 + i, 128);
  }
};

struct Q2_K : KBase, Groups16 {
  static constexpr int depth = 4, minimum_sign = -1;
  static constexpr bool wide = true;
  static constexpr Beside beside = Beside::minimum;
  template <bool> struct Piece {
    uint4 q;
    uint2 scales;  // of the half t % 2
    unsigned dm;
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    p.q = stream16(item(plane[1], 4 * at.block + at.t, 16));
    p.scales = load8(item(plane[0], 2 * at.block + at.t % 2, 8));
    p.dm = load4(item(plane[2], at.block, 4));
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = (word(p.q, i) >> 2 * s) & 0x03030303u;
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    const float2 dm = halves_of(p.dm);
    const unsigned four = word(p.scales, single ? k : k / 2);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = lane_sum<single>(k, t) % 2 * 2 + i;
      to.scale[i] = dm.x * byte_float(four & low_nibbles, at);
      to.minimum[i] = dm.y * byte_float((four >> 4) & low_nibbles, at);
    }
  }
};

struct Q3_K : KBase, Groups16 {
  static constexpr int depth = 4, offset = 4;
  static constexpr bool wide = false;
  static constexpr Beside beside = Beside::zero_point;
  template <bool> struct Piece {
    uint4 q, high;
    unsigned scales[3], d;
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    p.q = stream16(item(plane[1], 4 * at.block + at.t, 16));
    p.high = load16(item(plane[0], 2 * at.block + at.t % 2, 16));
#pragma unroll
    for (int i = 0; i < 3; ++i) p.scales[i] = load4(item(plane[2], at.block, 12) + 4 * i);
    p.d = load2(item(plane[3], at.block, 2));
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int t, int s, int, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned high = word(p.high, i) >> 4 * (t / 2);
      w[i] = ((word(p.q, i) >> 2 * s) & 0x03030303u) | ((s < 2 ? high << (2 - s) : high >> (s - 2)) & 0x04040404u);
    }
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    const float d = half_of(p.d);
    const int shift =
        4 * (t % 2);  // of groups 8 to 15: the high halves of the low bits, bits 4 and up of the high ones
    const unsigned high = p.scales[2] >> shift;
    const int half = single ? k : k / 2;  // of sums 0 and 1, or 2 and 3
    const unsigned six =
        ((p.scales[half] >> shift) & low_nibbles) | ((half == 0 ? high << 4 : high << 2) & 0x30303030u);
#pragma unroll
    for (int i = 0; i < 2; ++i) to.scale[i] = d * byte_float(six, lane_sum<single>(k, t) % 2 * 2 + i, 32);
  }
};

struct IQ4_XS : KBase, Blocks32 {
  static constexpr int depth = 4;
  static constexpr bool wide = false, is_signed = true;
  template <bool> struct Piece {
    uint4 q[2];
    uint2 header;  // d and the high bits of the scales, the low ones
  };
  template <class P>
  __device__ __forceinline__ static void load(P& p, const std::byte* const (&plane)[4], const Place& at) {
    p.q[0] = stream16(item(plane[1], 8 * at.block + at.t, 16));
    p.q[1] = stream16(item(plane[1], 8 * at.block + at.t, 16) + 64);
    p.header = load8(item(plane[0], at.block, 8));
  }
  template <class P> __device__ __forceinline__ static void codes(const P& p, int, int s, int part, unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = four_of_table<iq4_values>(word(p.q[s], i), part);
  }
  template <bool single>
  __device__ __forceinline__ static void scales(const Piece<single>& p, int t, int k, Scales& to) {
    const float d = half_of(p.header.x);
    const int group = 4 * lane_sum<single>(k, t) + 2 * (t % 2);
    const unsigned low = p.header.y >> 4 * group, high = p.header.x >> (16 + 2 * group);
#pragma unroll
    for (int i = 0; i < 2; ++i) to.scale[i] = d * float(int(((low >> 4 * i) & 15) | ((high >> 2 * i) & 3) << 4) - 32);
  }
};

}  // namespace

LaunchFormat k_launch(DType type) {
  switch (type) {
    case DType::q2_k: return launch_format<Q2_K>;
    case DType::q3_k: return launch_format<Q3_K>;
    case DType::q4_k: return launch_format<Q4_K>;
    case DType::q5_k: return launch_format<Q5_K>;
    case DType::q6_k: return launch_format<Q6_K>;
    case DType::iq4_xs: return launch_format<IQ4_XS>;
    default: return nullptr;
  }
}

}  // namespace ridge::op::matvec_blocks
