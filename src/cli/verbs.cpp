#include "cli/verb.h"

namespace ridge::cli {
namespace {

constexpr Verb all[] = {
    {"bench", "op cases, or a whole model, beside their bounds", bench_verb},
    {"convert", "a model in another type or file format", convert_verb},
    {"explain", "price every call of a step, without running it", explain_verb},
    {"inspect", "what is in a model file, and the memory it needs", inspect_verb},
    {"logits", "the logits of given token ids, as safetensors", logits_verb},
    {"models", "what is in the caches, and removing it", models_verb},
    {"perplexity", "how well a model predicts a text", perplexity_verb},
    {"probe", "what this machine can do at most, measured; or a named GPU's datasheet", probe_verb},
    {"profile", "every call of a step, measured beside predicted", profile_verb},
    {"pull", "fetch a model from the hub", pull_verb},
    {"run", "answer a prompt, or chat", run_verb},
    {"support", "which op runs on which types, by which kernel", support_verb},
    {"template", "render conversations with a model's chat template", template_verb},
    {"tokenize", "text to token ids", tokenize_verb},
};

}  // namespace

std::span<const Verb> verbs() { return all; }

}  // namespace ridge::cli
