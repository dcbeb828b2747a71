#include "hw/cpu.h"

namespace ridge::hw {

const Isa& isa() {
  static const Isa found = [] {
    Isa i;
    i.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    i.avx512 = i.avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    i.vnni = i.avx512 && __builtin_cpu_supports("avx512vnni");
    return i;
  }();
  return found;
}

}  // namespace ridge::hw
