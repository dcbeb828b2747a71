#include "program/passes.h"

#include <algorithm>

#include "base/error.h"
#include "measure/timer.h"

namespace ridge::program {
namespace {

constexpr Pass all[] = {
    {"merge_linears", "products of one x become segments of one call (q/k/v, gate/up)", merge_linears},
    {"fuse_linear", "on a GPU: a product, the norm before it and the sum or gate after it become one call",
     fuse_linear},
    {"fuse_rope_store", "on a GPU: both ropes and the store of keys and values become one call", fuse_rope_store},
    {"quantize_activations", "x of products with quantized weights becomes int8 blocks", quantize_activations},
    {"fuse_residual_norm", "residual sum and the norm that follows it become one call", fuse_residual_norm},
    {"fuse_quantize", "the call that makes x writes it as int8 blocks", fuse_quantize},
};

}  // namespace

std::span<const Pass> passes() { return all; }

std::vector<PassRecord> run_passes(ir::Program& p, const ir::Target& target, std::span<const std::string> skip) {
  for (const std::string& name : skip)
    if (std::none_of(std::begin(all), std::end(all), [&](const Pass& pass) { return pass.name == name; })) {
      std::string known;
      for (const Pass& pass : all) known += (known.empty() ? "" : ", ") + std::string(pass.name);
      fail_input("no pass is called '{}'; there are {}", name, known);
    }
  std::vector<PassRecord> records;
  for (const Pass& pass : all) {
    PassRecord record{.name = pass.name, .what = pass.what, .calls_before = p.calls().size()};
    record.skipped = std::find(skip.begin(), skip.end(), pass.name) != skip.end();
    if (!record.skipped) {
      const measure::Timer timer;
      pass.apply(p, target);
      record.seconds = timer.seconds();
    }
    record.calls_after = p.calls().size();
    records.push_back(record);
  }
  return records;
}

std::vector<std::vector<std::size_t>> readers(const ir::Program& p) {
  std::vector<std::vector<std::size_t>> of(p.values().size());
  for (std::size_t i = 0; i < p.calls().size(); ++i)
    for (ir::Value v : p.calls()[i].in)
      if (v && (of[std::size_t(v.id)].empty() || of[std::size_t(v.id)].back() != i)) of[std::size_t(v.id)].push_back(i);
  return of;
}

}  // namespace ridge::program
