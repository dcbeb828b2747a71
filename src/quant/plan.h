// What convert will write: each tensor with its type and where its values come from.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/model_files.h"
#include "io/safetensors_write.h"
#include "quant/convert.h"
#include "quant/random.h"

namespace ridge::quant {

struct PlannedTensor {
  io::TensorSpec spec;
  std::vector<const io::TensorEntry*> sources;  // one, or one for each slice of the outermost dimension (experts)

  // How the source's values differ from what is written.
  std::int64_t turned_heads = 0;  // > 0: rows of each head go from halves to neighbouring pairs ...
  std::int64_t turned_rows = 0;   // ... the first so many of a head: those that rope rotates
  bool transposed = false;        // the source holds columns as rows
  float add = 0;                  // to every value: Gemma's norms
  std::vector<float> scales;      // each row times its own, or all times one: FP8

  // Where there is no source.
  std::vector<float> values;
  std::optional<RandomValues> random;

  // Whether the source's bytes are what is to be written.
  bool as_stored() const;
};

// Picks types, and remembers what there is to say about it.
class TypeChooser {
 public:
  TypeChooser(const ConvertOptions& options, std::vector<std::string>& notes) : options_(options), notes_(notes) {}

  // The type of a tensor called so in GGUF; empty: as it is stored. `stored` is empty where ridge cannot read its
  // values: such a tensor stays as it is.
  std::optional<DType> choose(std::string_view gguf_name, std::span<const std::int64_t> shape,
                              std::optional<DType> stored, bool is_head);

  // After the last tensor. Fails (input) where a rule of the options never applied; puts into the notes where tensors
  // did not get the type that was wanted, and what else there is to say.
  void finish();

 private:
  struct Some {  // tensors of which the same is to be said
    std::int64_t count = 0;
    std::string first;
  };
  std::optional<DType> wanted(std::string_view gguf_name, bool is_head, std::int64_t columns);
  void note(std::string what, std::string_view gguf_name);

  const ConvertOptions& options_;
  std::vector<std::string>& notes_;
  std::vector<bool> used_ = std::vector<bool>(options_.rules.size());
  std::map<std::string, Some> said_;
};

// Vectors, and matrices that are small or read where kernels want floats: F32 in every GGUF file.
bool stays_exact(std::string_view gguf_name, std::size_t rank);

// Whether it is the tensor that gives logits.
bool is_head(std::string_view gguf_name, bool has_output);

// ggml's number of a file mostly of this type (llama_ftype).
std::uint32_t file_type(DType type);
// The type of most of the matrices' values; empty where that is one that has no such number.
std::optional<DType> main_type(std::span<const PlannedTensor> plan);

// The tensors of a GGUF file, and of a Hugging Face folder as GGUF has them.
std::vector<PlannedTensor> plan_gguf(const io::ModelFiles& files, TypeChooser& types);
std::vector<PlannedTensor> plan_gguf_from_hf(const model::Description& model, TypeChooser& types);
// The tensors of any file as safetensors, names unchanged: all numbers of one type, or as they are stored.
std::vector<PlannedTensor> plan_safetensors(const io::ModelFiles& files, std::optional<DType> type);

// FP8's scales, one or one for each of `rows`.
std::vector<float> scales_of(const io::ModelFiles& files, const io::TensorEntry& scale, std::int64_t rows);

}  // namespace ridge::quant
