// How much memory this process holds and has held, as the kernel counts it.
#pragma once
#include <cstdint>
#include <optional>

namespace ridge::measure {

std::optional<std::int64_t> peak_memory_bytes();      // VmHWM: the largest resident set so far
std::optional<std::int64_t> resident_memory_bytes();  // VmRSS: now

// Lets the peak start again from what is resident now, so that it tells of what follows only. False: not allowed here.
bool reset_peak_memory();

}  // namespace ridge::measure
