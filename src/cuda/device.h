// The GPUs that this process sees, and one of them chosen.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::cuda {

struct Device {
  int index = 0;
  std::string name, uuid;
  int arch = 0;       // 90: compute capability 9.0
  int code_arch = 0;  // of a selected one: what its kernels were compiled for, at most `arch`
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0, memory_bytes = 0;
  int most_shared_bytes = 0;  // of one block, when it asks
};

struct Devices {
  std::vector<Device> list;
  std::string none;  // why the list is empty: "no driver", "the driver is too old: …"
};

Devices devices();

// Makes device `index` this thread's and returns it. Refuses one that is not there (Fault::input) and one that this
// binary holds no code for (Fault::machine, saying how to build it).
Device select(int index);

struct Memory {
  std::int64_t free = 0, total = 0;
};
Memory memory();  // of the device in use, as the driver sees it

}  // namespace ridge::cuda
