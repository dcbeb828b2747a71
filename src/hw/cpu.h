// What this machine's processor has.
#pragma once

namespace ridge::hw {

struct Isa {  // instruction sets that kernels may use: what the processor and the system have, minus what is forbidden
  bool avx2 = false;      // with FMA and F16C
  bool avx512 = false;    // F, BW, DQ, VL
  bool vnni = false;      // AVX-512 VNNI
  bool avx_vnni = false;  // the 256-bit form
};
const Isa& isa();

}  // namespace ridge::hw
