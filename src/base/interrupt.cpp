#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace ridge {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int) {
  if (asked_to_stop.exchange(true)) _exit(130);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: a read from the terminal returns, so that chat can leave
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }
void stop_if_interrupted(std::string_view doing) {
  if (interrupted()) fail_input("interrupted while {}", doing);
}
void forget_interrupt() { asked_to_stop.store(false); }

}  // namespace ridge
