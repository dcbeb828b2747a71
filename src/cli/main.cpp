#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/verb.h"

namespace ridge::cli {
namespace {

void print_help(std::FILE* out) {
  std::fputs(
      "ridge runs language models and prints every measured number beside the limit it could reach.\n\n"
      "usage: ridge VERB [ARGUMENTS]     ridge VERB --help     ridge --version\n\n",
      out);
  for (const Verb& v : verbs()) fmt::print(out, "  {:<12} {}\n", v.name, v.summary);
  std::fputs("\nexit status: 0 done, 1 a finding, 2 could not do it\n", out);
}

const Verb* find(std::string_view name) {
  for (const Verb& v : verbs())
    if (v.name == name) return &v;
  return nullptr;
}

// By audience: the user's input, the machine's limit, our bug.
int report(const Error& e, std::string_view verb) {
  switch (e.fault()) {
    case Fault::input: log_error("{}", e.what()); break;
    case Fault::machine: log_error("this machine cannot: {}", e.what()); break;
    case Fault::bug:
      log_error("this is a bug in ridge {} ({}): {}; please report it", RIDGE_VERSION, verb, e.what());
      break;
  }
  return exit_failed;
}

// What a verb wrote may wait in a buffer: an output that is closed or full is told, and is a failure.
int finished(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fail_machine("cannot write: the output is closed or full");
}

int dispatch(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name.empty()) {
    print_help(stderr);
    return exit_failed;
  }
  if (name == "--version" || name == "-V") {
    fmt::print("ridge {}\n", RIDGE_VERSION);
    return exit_done;
  }
  const bool help = name == "help" || name == "--help" || name == "-h";
  if (help && arguments.size() == 1) {
    print_help(stdout);
    return exit_done;
  }
  const Verb* verb = find(help ? arguments[1] : name);
  if (!verb) fail_input("there is no verb '{}'; 'ridge help' lists them", help ? arguments[1] : name);
  if (help) return verb->run({"--help"});
  return verb->run({arguments.begin() + 1, arguments.end()});
}

}  // namespace
}  // namespace ridge::cli

int main(int argc, char** argv) {
  ridge::catch_interrupts();
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f` a write fails, and can be told
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string verb = arguments.empty() ? "" : arguments[0];
  try {
    return ridge::cli::finished(ridge::cli::dispatch(arguments));
  } catch (const ridge::Error& e) {
    return ridge::cli::report(e, verb);
  } catch (const std::bad_alloc&) {
    ridge::log_error("this machine cannot: out of memory; try a shorter --context");
  } catch (const std::exception& e) {
    return ridge::cli::report(ridge::Error(ridge::Fault::bug, e.what()), verb);
  }
  return ridge::cli::exit_failed;
}
