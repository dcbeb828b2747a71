// Passes: each rewrites the list of calls into one that computes the same and costs less. Named, timed, skippable.
// Order: as passes() lists them (docs/map.md says why).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_info.h"

namespace ridge::program {

struct Pass {
  std::string_view name;
  std::string_view what;  // one line, for explain
  void (*apply)(ir::Program&, const ir::Target&);
};

std::span<const Pass> passes();

struct PassRecord {
  std::string_view name, what;
  bool skipped = false;
  double seconds = 0;
  std::size_t calls_before = 0, calls_after = 0;
};

// Runs all passes but those named in `skip`; an unknown name there is the user's error.
std::vector<PassRecord> run_passes(ir::Program& p, const ir::Target& target, std::span<const std::string> skip = {});

// One file each.
void merge_linears(ir::Program& p, const ir::Target& target);
void quantize_activations(ir::Program& p, const ir::Target& target);
void fuse_residual_norm(ir::Program& p, const ir::Target& target);
void fuse_quantize(ir::Program& p, const ir::Target& target);
void fuse_linear(ir::Program& p, const ir::Target& target);
void fuse_rope_store(ir::Program& p, const ir::Target& target);

// For each value, the indices of the calls that read it.
std::vector<std::vector<std::size_t>> readers(const ir::Program& p);

}  // namespace ridge::program
