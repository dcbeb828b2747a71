#pragma once
#include "cli/options.h"

namespace ridge::cli {

// Opens and loads the model that the flags name, for one sequence of at most `longest` tokens in steps of at most
// `step` tokens, all of whose rows may be wanted where `all_rows`.
enum class Rows : std::uint8_t { last, all };
std::unique_ptr<model::Loaded> load_single(const ModelFlags& flags, std::int64_t longest, std::int64_t step, Rows rows, ThreadPool& pool);

}  // namespace ridge::cli
