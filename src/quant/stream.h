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
// large the tensor is. Fails (input), naming the tensor, where a value is not finite, or is not once it is encoded.
void stream_tensor(const io::ModelFiles& files, const PlannedTensor& tensor, ThreadPool& pool, Progress& progress,
                   FunctionRef<void(std::span<const std::byte>)> write);

}  // namespace ridge::quant
