// What verbs share: parsing with CLI11, flags that mean the same everywhere, and a model loaded as the flags say.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/report.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "model/loaded.h"

namespace CLI {
class App;
}

namespace ridge::cli {

// Parses; returns false when help was asked for and printed. A wrong flag is the user's error.
bool parse(CLI::App& app, std::vector<std::string> arguments);

struct CommonFlags {  // every verb has them
  bool json = false, verbose = false, quiet = false;
  std::vector<std::string> forbid;  // instruction sets that kernels may not use
  void add_to(CLI::App& app);
  void apply() const;  // log level, forbidden instruction sets: before anything else
  OutputForm form() const { return json ? OutputForm::json : OutputForm::text; }
};

Report make_report(std::string verb);  // with the environment filled in

inline constexpr const char* model_help =
    "a GGUF file, a Hugging Face folder, or a model of the caches: org/name[:file], or its short name";

enum class ModelArgument : std::uint8_t { required, optional };

struct ModelFlags {  // verbs that run a model
  std::string model;
  std::string shape, type;  // instead of MODEL, for verbs that only time it: random weights
  std::string device = "auto", activations = "auto", kv = "auto";
  bool no_graphs = false, no_pdl = false;
  int threads = 0;  // 0: what the processor, its affinity and the container's quota allow
  std::int64_t context = 0;
  std::vector<std::string> skip_passes;
  void add_to(CLI::App& app, ModelArgument argument = ModelArgument::required);
  void add_shape_to(CLI::App& app);
  model::Description open() const;  // MODEL, or the shape with random weights
  int thread_count() const;
  // The options as the flags say; the sizes are the verb's to fill. `longest` stands in for a --context not given.
  model::LoadOptions load_options(const model::Config& config, std::int64_t longest) const;
};

}  // namespace ridge::cli
