#include "op/case.h"
#include "op/select_rows/select_rows.h"

namespace ridge::op {

std::vector<Case> select_rows_cases() {
  return {
      {"3 of 5",
       {.tokens = 5, .rows = 3},
       [](CaseInputs& in) {
         select_rows(in.program, in.activation("x", {Symbol::tokens, 33}), in.ints("rows", {Symbol::rows}, {4, 0, 4}));
       },
       0}};
}

}  // namespace ridge::op
