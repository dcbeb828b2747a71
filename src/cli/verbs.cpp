#include "cli/verb.h"

namespace ridge::cli {
namespace {

constexpr Verb all[] = {
};

}  // namespace

std::span<const Verb> verbs() { return all; }

}  // namespace ridge::cli
