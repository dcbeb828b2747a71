#include "cli/load_single.h"

#include <algorithm>

#include "engine/kv_pool.h"

namespace ridge::cli {

std::unique_ptr<model::Loaded> load_single(const ModelFlags& flags, std::int64_t longest, std::int64_t step, Rows rows, ThreadPool& pool) {
  model::Description d = model::open(flags.model);
  model::LoadOptions o = flags.load_options(d.config, longest);
  o.max_tokens = std::min(step, o.context);
  o.max_rows = rows == Rows::all ? o.max_tokens : 1;
  o.kv_block_size = engine::default_block_tokens;
  o.kv_blocks = (o.context + o.kv_block_size - 1) / o.kv_block_size;
  return std::make_unique<model::Loaded>(std::move(d), o, pool);
}

}  // namespace ridge::cli
