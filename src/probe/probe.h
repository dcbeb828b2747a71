// Measures what this machine can do at most, once, for everyone (hw/ceilings.h holds the record).
#pragma once
#include "base/report.h"
#include "hw/ceilings.h"

namespace ridge::probe {

// Reads, writes and multiplies with 1 and with `threads` threads; in full mode also with counts between. Quick takes at
// most about 2 s and shows nothing; full at most about 30 s, with a progress bar. Needs memory for a working set of
// four last-level caches (at most 1 GiB, and a quarter of what is free). Stops early, with an input error, when
// interrupted.
hw::Ceilings measure_ceilings(int threads, hw::Thoroughness thoroughness);

// This machine's ceilings from ceilings.json, or else a quick probe (it says so on stderr) whose result is written
// there. A file that cannot be written is a warning. The peak of resident memory (VmHWM) is reset after a probe, so
// that it tells of the caller's work only.
hw::Ceilings ensure_ceilings(int threads);

// What `ridge probe` prints: facts of the processor, the measured ceilings, and what they mean.
Report report_of(const hw::Ceilings& ceilings);
Report report_of(const hw::GpuSpec& gpu);  // a datasheet

// Sentences on what the numbers mean for a language model: ridge point, scaling over threads, caches, disturbances.
std::vector<std::string> verdicts(const hw::Ceilings& ceilings);

}  // namespace ridge::probe
