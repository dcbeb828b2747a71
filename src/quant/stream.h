// Tensors from one type to another, in pieces.
#pragma once
#include <cstddef>
#include <span>

#include "base/function_ref.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "quant/plan.h"

namespace ridge::quant {

// Hands the tensor's bytes, as its spec stores them, to `write` in order. Needs memory for a few MiB a thread, however
// large the tensor is. `files` may be null for a tensor without sources. Fails (input), naming the tensor, where a
// value is not finite, or is not once it is encoded; bytes that are copied are not looked at. Returns false where the
// user interrupted it.
bool stream_tensor(const io::ModelFiles* files, const PlannedTensor& tensor, ThreadPool& pool, Progress& progress,
                   FunctionRef<void(std::span<const std::byte>)> write);

}  // namespace ridge::quant
