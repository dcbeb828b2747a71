// The architecture for which the kernels were compiled that the device in use would run: its own, or an older one whose
// PTX the driver translates. 0: this binary holds none for it.
#pragma once

namespace ridge::cuda {
int code_arch();
}
