// ridge convert: a model's weights in another type or file format. Tensors stream through in pieces, so a model larger
// than memory converts; the pieces of a chunk are encoded by all threads at once.
//
// Which type a tensor gets, as llama.cpp's converter and quantizer have it: vectors, norms, biases, routers of experts
// and learned positions are F32; the head (where it is tied: the embedding) of a quantized file is Q6_K, and Q8_0 where
// its rows are no multiple of 256; other matrices get the type asked for. Rows that are no multiple of its block get the
// nearest type of smaller blocks: Q4_K -> Q5_0, Q5_K -> Q5_1, Q6_K -> Q8_0, and F16 where even that does not divide them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "io/model_files.h"
#include "tensor/dtype.h"

namespace ridge::quant {

enum class HeadType : std::uint8_t { finer, same };  // finer: as above; same: the head is a matrix like any other

struct ConvertOptions {
  DType type = DType::f16;
  HeadType head = HeadType::finer;
};

struct Converted {
  std::int64_t tensors = 0, source_bytes = 0, bytes = 0;  // bytes: of tensor data
  std::vector<std::string> fallbacks;                     // a sentence for each tensor that could not have its type
};

// Writes `out`, whose ending says the format: .gguf or .safetensors. From GGUF to GGUF, metadata goes along as it is,
// but for the file's type and its split. Fails (input) on weights that are not finite, or that the type cannot hold.
Converted convert(const io::ModelFiles& files, const std::filesystem::path& out, const ConvertOptions& options,
                  ThreadPool& pool);

// The types that convert can write.
std::vector<DType> convertible_types();

}  // namespace ridge::quant
