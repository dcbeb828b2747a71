// Errors by audience. Whoever throws knows whose fault it is; the command line prints each kind in its own way.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace ridge {

enum class Fault {
  input,    // the user's file, flag or text: says which field, file and offset, and what is accepted
  machine,  // a limit of this machine: says what is needed, what there is, and which flag helps
  bug,      // ours: says so, with the call id where there is one
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

template <class... Args> [[noreturn]] void fail_input(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::input, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> [[noreturn]] void fail_machine(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::machine, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> [[noreturn]] void fail_bug(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::bug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ridge
