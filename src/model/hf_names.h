// What a Hugging Face file calls a tensor, in ridge's words.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::model {

struct HfName {
  std::string name;          // ridge's; empty: known, and without a part in the result
  std::int64_t expert = -1;  // which slice of that tensor's outermost dimension it is; -1: the whole
  bool transposed = false;   // stored as (inputs, outputs): GPT-2's Conv1D
};

// Of a tensor of this architecture (GGUF's name of it); empty where it has none of that name.
std::optional<HfName> name_from_hf(std::string_view architecture, std::string_view hf);

// The other way round, for messages.
std::string name_in_hf(std::string_view architecture, std::string_view name);

// Of one expert's matrix, "blk.0.ffn_gate_exps"; as Mixtral calls it in "llama", as Qwen3-MoE elsewhere.
std::string expert_name_in_hf(std::string_view architecture, std::string_view name, std::int64_t expert);

}  // namespace ridge::model
