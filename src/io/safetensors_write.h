// Writing a safetensors file as a stream: the header first, then the tensors' bytes in the order they were declared, in
// pieces of any size. Nothing larger than a piece is held in memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "tensor/dtype.h"

namespace ridge::io {

struct GgmlType;

struct TensorSpec {  // a tensor to be written
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;    // outermost first
  const GgmlType* foreign = nullptr;  // GGUF alone: a type that ridge has no DType for, then `dtype` does not count
};

// Bytes of the tensor as stored: rows of whole blocks. Fails (input) on a size that does not fit 63 bits.
std::uint64_t stored_bytes(const TensorSpec& tensor);

class SafetensorsWriter {
 public:
  // Writes the header. Only plain types: safetensors has no blocks.
  SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorSpec> tensors,
                    const std::map<std::string, std::string>& metadata = {});
  void append(std::span<const std::byte> bytes);
  void finish();  // fails (bug) when bytes are missing

 private:
  OutputFile out_;
  std::uint64_t end_ = 0;  // of the file, once complete
};

// A whole small file at once: float32 tensors.
struct FloatTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
};
void write_safetensors(const std::filesystem::path& path, std::span<const FloatTensor> tensors);

}  // namespace ridge::io
