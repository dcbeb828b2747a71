// Names of the hub: of models, revisions and files. What comes from a server or a command line is held to these rules
// before it becomes part of a path or an address.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace ridge::io {

struct ModelName {       // NAME[@REVISION][:FILE]
  std::string repo;      // "org/name", or "name"
  std::string revision;  // a branch, a tag or a commit; empty: not said
  std::string file;      // a file of the repository, or the type of a GGUF model ("Q4_K_M"); empty: not said
};

// Empty where the text cannot be a model's name.
std::optional<ModelName> parse_model_name(std::string_view text);

// "org/name" or "name": letters, digits and -_. in each part, as the hub has it (no "--", no "..").
bool is_repo_name(std::string_view text);
bool is_revision(std::string_view text);         // what may be the name of a branch, a tag or a commit
bool is_commit(std::string_view text);           // 40 digits of lower-case hexadecimal
bool is_safe_file(std::string_view text);        // a relative path that stays below, without control characters
std::string repo_folder(std::string_view repo);  // "models--org--name"
std::optional<std::string> repo_of_folder(std::string_view folder);  // the other way round; empty: no model's

bool equal_ignoring_case(std::string_view a, std::string_view b);  // of ASCII letters

}  // namespace ridge::io
