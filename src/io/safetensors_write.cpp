#include "io/safetensors_write.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/quote.h"

namespace ridge::io {

std::uint64_t stored_bytes(const TensorSpec& tensor) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (columns < 0 || columns > most / 512)
    fail_input("tensor {} has a row of {} elements", quote(tensor.name), columns);
  const GgmlType* foreign = tensor.foreign;
  std::int64_t bytes = foreign ? (columns + foreign->block_elems - 1) / foreign->block_elems * foreign->block_bytes
                               : row_bytes(tensor.dtype, columns);
  for (std::size_t i = 0; i + 1 < tensor.shape.size(); ++i) {
    const std::int64_t n = tensor.shape[i];
    if (n < 0 || (n > 0 && bytes > most / n)) fail_input("tensor {} has more than 2^63 bytes", quote(tensor.name));
    bytes *= n;
  }
  return std::uint64_t(bytes);
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorSpec> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : out_(path) {
  // Put together as text: an ordered JSON object looks through all of its keys for each new one.
  const auto string = [](std::string_view text) { return nlohmann::json(text).dump(); };
  std::string text = "{";
  if (!metadata.empty()) text += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata).dump());
  std::uint64_t at = 0;
  for (const TensorSpec& t : tensors) {
    if (t.foreign || is_block(t.dtype))
      fail_input("{}: safetensors cannot hold {} ({})", path.string(), t.foreign ? t.foreign->name : name(t.dtype),
                 quote(t.name));
    const std::uint64_t end = at + stored_bytes(t);
    text += fmt::format("{}{}:{{\"dtype\":{},\"shape\":{},\"data_offsets\":[{},{}]}}", text.size() > 1 ? "," : "",
                        string(t.name), string(name(t.dtype)), nlohmann::json(t.shape).dump(), at, end);
    at = end;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data starts aligned
  const std::uint64_t length = text.size();
  out_.write(std::as_bytes(std::span(&length, 1)));
  out_.write(text);
  end_ = out_.position() + at;
}

void SafetensorsWriter::append(std::span<const std::byte> bytes) {
  if (bytes.size() > end_ - out_.position())
    fail_bug("{}: {} bytes too many for the tensors declared", out_.name(), bytes.size() - (end_ - out_.position()));
  out_.write(bytes);
}

void SafetensorsWriter::finish() {
  if (out_.position() != end_)
    fail_bug("{}: {} bytes of the declared tensors were never written", out_.name(), end_ - out_.position());
  out_.finish();
}

void write_safetensors(const std::filesystem::path& path, std::span<const FloatTensor> tensors) {
  std::vector<TensorSpec> specs;
  for (const FloatTensor& t : tensors) specs.push_back({t.name, DType::f32, t.shape});
  SafetensorsWriter writer(path, specs);
  for (const FloatTensor& t : tensors) writer.append(std::as_bytes(t.values));
  writer.finish();
}

}  // namespace ridge::io
