// ridge convert: a model's weights in another type or file format. Tensors stream through in pieces, so a model larger
// than memory converts; the pieces of a chunk are encoded by all threads at once. What has its type already is copied
// byte for byte.
//
// Which type a tensor gets in GGUF, as llama.cpp's converter and quantizer have it: vectors, norms, biases, routers of
// experts and learned positions are F32; the head (where it is tied: the embedding) of a quantized file is Q6_K, and
// Q8_0 where its rows are no multiple of 256; other matrices get the type asked for. Rows that are no multiple of its
// block get the nearest type of smaller blocks: Q4_K -> Q5_0, Q5_K -> Q5_1, Q6_K -> Q8_0, and F16 where even that does
// not divide them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "io/model_files.h"
#include "model/model.h"
#include "tensor/dtype.h"

namespace ridge::quant {

enum class HeadType : std::uint8_t { finer, same };       // finer: as above; same: the head is a matrix like any other
enum class Overwrite : std::uint8_t { refuse, replace };  // a file that is there
enum class WithTokenizer : std::uint8_t { yes, no };

struct TypeRule {
  std::string pattern;        // of names as GGUF has them; '*' is any text, '?' any character
  std::optional<DType> type;  // empty: as stored
};

struct ConvertOptions {
  std::optional<DType> type;  // of the matrices; empty: as stored
  HeadType head = HeadType::finer;
  std::vector<TypeRule> rules;  // for matrices; of those that match, the last counts
  Overwrite overwrite = Overwrite::refuse;
  WithTokenizer tokenizer = WithTokenizer::yes;
};

struct Converted {
  std::int64_t tensors = 0, source_bytes = 0, bytes = 0;  // bytes: of tensor data
  std::int64_t copied = 0;                                // tensors whose bytes are the source's
  std::vector<std::string> notes;                         // sentences: what is not as was asked, or was lost
  bool interrupted = false;                               // then nothing was written
};

// Writes `out`: a GGUF file or a safetensors file by its ending (.gguf, .safetensors), else a Hugging Face folder,
// which must not be there yet. From GGUF to GGUF metadata goes along as it is, but for the file's type and its split; a
// folder gets config.json (with its new dtype), tokenizer and templates of the folder that it is made from. `out` has
// its name only once it is whole. Fails (input) on weights that are not finite, or that the type cannot hold, and where
// `out` is the model itself; (machine) where the disk has too little room.
Converted convert(const io::ModelFiles& files, const std::filesystem::path& out, const ConvertOptions& options,
                  ThreadPool& pool);

// A GGUF file of a model without a file (model/shapes.h): weights drawn from `seed`, the same on every machine, and a
// tokenizer of bytes.
Converted write_random(const model::Description& shape, const std::filesystem::path& out, const ConvertOptions& options,
                       std::uint64_t seed, ThreadPool& pool);

// The types that convert can write.
std::vector<DType> convertible_types();

}  // namespace ridge::quant
