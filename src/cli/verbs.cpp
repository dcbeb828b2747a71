#include "cli/verb.h"

namespace ridge::cli {
namespace {

constexpr Verb all[] = {
    {"run", "answer a prompt, or chat", run_verb},
};

}  // namespace

std::span<const Verb> verbs() { return all; }

}  // namespace ridge::cli
