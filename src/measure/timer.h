// The steady clock, and nothing else: how a measurement is made is the protocol's business (measure/protocol.h).
#pragma once
#include <chrono>

namespace ridge::measure {

class Timer {  // from its making
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ridge::measure
