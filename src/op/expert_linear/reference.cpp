#include <vector>

#include "base/thread_pool.h"
#include "op/expert_linear/expert_linear.h"
#include "op/expert_linear/kernels.h"

namespace ridge::op {

void expert_linear_ref(const ir::Bound& b) {
  const View x = b.in[0], experts = b.in[1], weight = b.in[2], mix = b.in[3], out = b.out[0];
  const std::int64_t used = experts.columns(), tokens = x.rows(), outputs = weight.dim(1), inputs = weight.dim(2);
  std::vector<float> in(static_cast<std::size_t>(tokens * x.columns()));
  for (std::int64_t t = 0; t < tokens; ++t) info(x.dtype).decode(x.row(t), &in[t * x.columns()], x.columns());
  std::vector<double> products(static_cast<std::size_t>(tokens * used * outputs));
  b.pool.parallel_for(weight.dim(0) * outputs,
                      [&](std::int64_t row, int) {  // one row of one expert, for all who use it
                        std::vector<float> w(inputs);
                        info(weight.dtype).decode(weight.row(row), w.data(), inputs);
                        for (std::int64_t t = 0; t < tokens; ++t)
                          for (std::int64_t j = 0; j < used; ++j) {
                            if (experts.row_as<std::int32_t>(t)[j] != row / outputs) continue;
                            const float* from = &in[t * x.columns() + (mix ? j * inputs : 0)];
                            double sum = 0;
                            for (std::int64_t i = 0; i < inputs; ++i) sum += double(w[i]) * from[i];
                            products[(t * used + j) * outputs + row % outputs] = sum;
                          }
                      });
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t n = 0; n < outputs; ++n) {
      double sum = 0;
      for (std::int64_t j = 0; j < used; ++j) {
        const double product = products[(t * used + j) * outputs + n];
        if (mix) sum += product * mix.row_as<float>(t)[j];
        else out.row_as<float>(t)[j * outputs + n] = float(product);
      }
      if (mix) out.row_as<float>(t)[n] = float(sum);
    }
}

}  // namespace ridge::op
