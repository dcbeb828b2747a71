// How weights of `linear` lie in memory once they are loaded: panels of 16 rows, so that a vector's lanes are 16
// output rows and a step of one column needs no shuffle.
//
// A panel holds 16 rows over all columns; the last panel of a matrix is filled up with rows of zeros. A panel is a
// sequence of units; a unit is as many columns as one block of the file's format (32 or 256), and is made of
//
//   header   for each of the format's half floats (d, then m or dmin): 16 halves, one per row, bits as in the file
//   then per 32 columns
//     low    the low bits of the codes: 8, 4 or 2 bits each
//     high   the bits above them: 0, 1 or 2 bits each
//     side   the format's integer scales and minimums: 16 bytes, one per row, for each of them
//
// Codes are unsigned; `offset` says which code is zero (Q4_0: 8; Q8_0: 128, the file's byte with its top bit flipped).
// A code vector is 64 bytes: lane r (4 bytes) is row r, its byte b is column 4 g + b of the 32, for group g = 0..7.
//   8 bits  vector g is group g
//   4 bits  vector j = 0..3 holds group j in its low and group j + 4 in its high nibbles
//   2 bits  vector j = 0..1 holds groups 4 j + i in bits 2 i and 2 i + 1
//   1 bit   one vector holds group g in bit g
// So 32 columns of 16 rows take 64 bytes per bit. Integer scales, packed to 6 bits in the file, take whole bytes here:
// at most 3.6 % more than the file (Q3_K); nothing else grows. All decoded values are bitwise those of the file.
//
// Plain types (f32, f16, bf16, f8_e4m3) have units of one column: 16 values, one per row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace ridge::op {

inline constexpr int panel_rows = 16;

struct PanelLayout {
  DType dtype;
  int columns;  // of a unit
  int halves;   // half floats per row in the header
  int low_bits;
  int high_bits;
  int side;    // bytes per row and 32 columns
  int offset;  // the code that stands for zero

  constexpr int parts() const { return columns / 32; }  // of 32 columns, in a unit
  constexpr int header_bytes() const { return 2 * panel_rows * halves; }
  constexpr int low_bytes() const { return 64 * low_bits; }
  constexpr int high_bytes() const { return 64 * high_bits; }
  constexpr int part_bytes() const { return low_bytes() + high_bytes() + panel_rows * side; }
  constexpr int unit_bytes() const { return header_bytes() + parts() * part_bytes(); }
};

//                                            columns halves low high side offset
inline constexpr PanelLayout q8_0_layout{DType::q8_0, 32, 1, 8, 0, 0, 128};
inline constexpr PanelLayout q4_0_layout{DType::q4_0, 32, 1, 4, 0, 0, 8};
inline constexpr PanelLayout q4_1_layout{DType::q4_1, 32, 2, 4, 0, 0, 0};
inline constexpr PanelLayout q5_0_layout{DType::q5_0, 32, 1, 4, 1, 0, 16};
inline constexpr PanelLayout q5_1_layout{DType::q5_1, 32, 2, 4, 1, 0, 0};
inline constexpr PanelLayout q2_k_layout{DType::q2_k, 256, 2, 2, 0, 2, 0};      // side: scale | min << 4 of each half
inline constexpr PanelLayout q3_k_layout{DType::q3_k, 256, 1, 2, 1, 2, 4};      // side: signed scale of each half
inline constexpr PanelLayout q4_k_layout{DType::q4_k, 256, 2, 4, 0, 2, 0};      // side: scale, minimum
inline constexpr PanelLayout q5_k_layout{DType::q5_k, 256, 2, 4, 1, 2, 0};      // side: scale, minimum
inline constexpr PanelLayout q6_k_layout{DType::q6_k, 256, 1, 4, 2, 2, 32};     // side: signed scale of each half
inline constexpr PanelLayout iq4_nl_layout{DType::iq4_nl, 32, 1, 4, 0, 0, 0};   // codes are indices into a table
inline constexpr PanelLayout iq4_xs_layout{DType::iq4_xs, 256, 1, 4, 0, 1, 0};  // side: signed scale
inline constexpr PanelLayout mxfp4_layout{DType::mxfp4, 32, 0, 4, 0, 1, 0};     // side: exponent, as in the file

// Whether `linear` multiplies weights of this type on the CPU.
bool has_panels(DType type);
std::int64_t panel_count(std::int64_t rows);
std::int64_t panel_bytes(DType type, std::int64_t columns);  // of one panel
std::int64_t packed_bytes(DType type, std::int64_t rows, std::int64_t columns);

struct Matrix {  // a weight as the file holds it: row-major, rows of whole blocks
  const std::byte* data;
  DType dtype;
  std::int64_t rows, columns;
};

// Packs panels [first, last) of `m` to `panels`, which holds the whole packed matrix (packed_bytes). Ranges may be
// packed by several threads at once.
void pack_panels(const Matrix& m, std::int64_t first, std::int64_t last, std::byte* panels);

// Row `row` of a packed matrix of `columns` columns as floats, bitwise as the file's decoder gives them: what a tied
// embedding reads.
void decode_panel_row(const std::byte* panels, DType type, std::int64_t columns, std::int64_t row, float* values);

}  // namespace ridge::op
