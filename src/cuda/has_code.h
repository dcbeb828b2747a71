// Whether this binary holds kernels for the device in use.
#pragma once

namespace ridge::cuda {
bool has_code();
}
