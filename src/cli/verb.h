// The command line: one file per verb, each of which parses, calls and prints. Logic lives in the rooms below.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_finding = 1;  // a lint hit, an SLO missed, a regression
inline constexpr int exit_failed = 2;   // could not do it

struct Verb {
  std::string_view name;
  std::string_view summary;  // one line, for `ridge help`
  int (*run)(std::vector<std::string> arguments);
};
std::span<const Verb> verbs();

// One line each here and in verbs.cpp.
int bench_verb(std::vector<std::string> arguments);
int profile_verb(std::vector<std::string> arguments);
int convert_verb(std::vector<std::string> arguments);
int support_verb(std::vector<std::string> arguments);
int run_verb(std::vector<std::string> arguments);
int inspect_verb(std::vector<std::string> arguments);
int probe_verb(std::vector<std::string> arguments);
int explain_verb(std::vector<std::string> arguments);
int models_verb(std::vector<std::string> arguments);
int pull_verb(std::vector<std::string> arguments);
int logits_verb(std::vector<std::string> arguments);
int perplexity_verb(std::vector<std::string> arguments);
int probe_verb(std::vector<std::string> arguments);
int template_verb(std::vector<std::string> arguments);
int tokenize_verb(std::vector<std::string> arguments);

}  // namespace ridge::cli
