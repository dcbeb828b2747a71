#include "tensor/shape.h"

#include "base/error.h"

namespace ridge {

Shape::Shape(std::initializer_list<Dim> list) : rank(int(list.size())) {
  if (rank > max_rank) fail_bug("a shape of {} dimensions; {} is the most", rank, max_rank);
  int i = 0;
  for (Dim d : list) dims[i++] = d;
}

bool Shape::operator==(const Shape& o) const {
  if (rank != o.rank) return false;
  for (int i = 0; i < rank; ++i)
    if (dims[i] != o.dims[i]) return false;
  return true;
}

static std::string dim_text(Dim d) {
  static constexpr const char* names[] = {"", "T", "B", "R"};
  if (d.symbol == Symbol::none) return fmt::format("{}", d.size);
  const char* s = names[int(d.symbol)];
  return d.size ? fmt::format("{}+{}", s, d.size) : s;
}

std::string Shape::text() const {
  std::string out = "(";
  for (int i = 0; i < rank; ++i) out += (i ? ", " : "") + dim_text(dims[i]);
  return out + ")";
}

}  // namespace ridge
