// Sizes of a tensor. A dimension is a number, or a symbol that is bound when the program is run.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace ridge {

enum class Symbol : std::uint8_t {
  none,
  tokens,
  sequences,
  rows
};  // T, B, R: this step's tokens, sequences, rows wanted

struct Dim {
  std::int64_t size = 0;  // with a symbol: added to it (query_start has B + 1 entries)
  Symbol symbol = Symbol::none;

  constexpr Dim() = default;
  constexpr Dim(std::int64_t n) : size(n) {}
  constexpr Dim(Symbol s, std::int64_t plus = 0) : size(plus), symbol(s) {}
  bool operator==(const Dim&) const = default;
};

struct Sizes {  // what the symbols are bound to
  std::int64_t tokens = 0, sequences = 0, rows = 0;
  std::int64_t of(Dim d) const {
    switch (d.symbol) {
      case Symbol::tokens: return d.size + tokens;
      case Symbol::sequences: return d.size + sequences;
      case Symbol::rows: return d.size + rows;
      case Symbol::none: break;
    }
    return d.size;
  }
};

struct Shape {
  static constexpr int max_rank = 5;
  std::array<Dim, max_rank> dims{};
  int rank = 0;

  Shape() = default;
  Shape(std::initializer_list<Dim> list);
  Dim operator[](int i) const { return dims[i < 0 ? rank + i : i]; }
  Dim& operator[](int i) { return dims[i < 0 ? rank + i : i]; }
  bool operator==(const Shape& o) const;
  std::string text() const;  // "(T, 576)"
};

}  // namespace ridge
