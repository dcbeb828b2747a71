// From shares of sequences to the inputs of a program.
#pragma once
#include <span>

#include "engine/scheduler.h"
#include "engine/sequence.h"
#include "model/batch.h"
#include "program/executor.h"

namespace ridge::engine {

// Binds the executor to this step and writes tokens, positions, slots, wanted rows (the last of each share that wants a
// token), query_start, context_len and block tables. Sequences must hold the blocks of their share (KvPool::grow).
// Allocates nothing.
void write_step(program::Executor& executor, const model::Batch& batch, std::span<const Share> shares,
                std::span<const Sequence> sequences, std::int64_t block_tokens);

// Where the executor is bound to larger sizes than the step has (Executor::rounded): rows that belong to nobody, which
// store no key and see none.
void fill_up(program::Executor& executor, const model::Batch& batch, const Sizes& sizes);

}  // namespace ridge::engine
