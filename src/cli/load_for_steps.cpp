#include "cli/load_for_steps.h"

#include <algorithm>

#include "engine/kv_pool.h"

namespace ridge::cli {

std::unique_ptr<model::Loaded> load_for_steps(const ModelFlags& flags, const StepLimits& limits, ThreadPool& pool) {
  model::Description d = flags.open();
  model::LoadOptions o = flags.load_options(d.config, limits.longest);
  o.max_tokens = std::max(std::min(limits.tokens, o.context), limits.sequences);
  o.max_sequences = limits.sequences;
  o.max_rows = limits.rows == Rows::all ? o.max_tokens : limits.sequences;
  o.kv_block_size = engine::default_block_tokens;
  o.kv_blocks = engine::blocks_for(o.context, o.kv_block_size) * limits.sequences;
  return std::make_unique<model::Loaded>(std::move(d), o, pool);
}

}  // namespace ridge::cli
