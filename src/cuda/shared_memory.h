// Bytes of shared memory of a multiprocessor, and the most that one block gets (CUDA C++ Programming Guide, table of
// compute capabilities).
#pragma once

namespace ridge::cuda {

constexpr int multiprocessor_shared(int arch) {
  switch (arch) {
    case 80:
    case 87: return 164 << 10;
    case 90:
    case 100:
    case 103:
    case 110: return 228 << 10;
    default: return 100 << 10;
  }
}
constexpr int block_shared(int arch) { return multiprocessor_shared(arch) - (1 << 10); }

}  // namespace ridge::cuda
