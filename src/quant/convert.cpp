#include "quant/convert.h"

#include "base/error.h"
#include "base/progress.h"
#include "io/gguf_write.h"
#include "io/quote.h"
#include "quant/plan.h"
#include "quant/stream.h"

namespace ridge::quant {
namespace {

bool decodes(const io::TensorEntry& t) { return t.dtype && info(*t.dtype).decode; }

PlannedTensor plan_tensor(const io::ModelFiles& files, const io::TensorEntry& t, DType type) {
  if (!decodes(t))
    fail_input("{}: tensor {} is of type {}, whose values ridge cannot read", files.file_names[t.file], io::quote(t.name), t.type);
  return {{t.name, type, t.shape}, {&t}};
}

std::vector<PlannedTensor> plan_gguf(const io::ModelFiles& files, const ConvertOptions& options, Converted& done) {
  const bool has_output = files.find("output.weight") != nullptr;
  std::vector<PlannedTensor> plan;
  for (const io::TensorEntry& t : files.tensors)
    plan.push_back(plan_tensor(files, t, type_for(t.name, t.shape, is_head(t.name, has_output), options, done.fallbacks)));
  return plan;
}

// Everything as it is, but what describes the file rather than the model.
io::GgufPairs pairs_of_gguf(const io::GgufMetadata& metadata, DType type) {
  io::GgufPairs pairs;
  for (const io::GgufValue& v : metadata.all())
    if (v.key != "general.file_type" && v.key != "general.quantization_version" && v.key != "general.alignment" && !v.key.starts_with("split."))
      pairs.put(v);
  pairs.put_u32("general.file_type", file_type(type));
  if (is_block(type)) pairs.put_u32("general.quantization_version", 2);
  return pairs;
}

std::vector<io::TensorSpec> specs_of(const std::vector<PlannedTensor>& plan) {
  std::vector<io::TensorSpec> specs;
  for (const PlannedTensor& t : plan) specs.push_back(t.spec);
  return specs;
}

template <class Writer>
void write_all(const io::ModelFiles& files, const std::vector<PlannedTensor>& plan, Writer& writer, Converted& done, ThreadPool& pool) {
  for (const PlannedTensor& t : plan) {
    done.bytes += std::int64_t(io::stored_bytes(t.spec));
    for (const io::TensorEntry* entry : t.sources) done.source_bytes += std::int64_t(entry->bytes.value_or(0));
  }
  done.tensors = std::int64_t(plan.size());
  Progress progress("converting", done.bytes, Unit::bytes);
  for (const PlannedTensor& t : plan)
    stream_tensor(files, t, pool, progress, [&](std::span<const std::byte> bytes) { writer.append(bytes); });
  writer.finish();
}

}  // namespace

std::vector<DType> convertible_types() {
  std::vector<DType> types;
  for (const DTypeInfo& t : all_dtypes())
    if (t.encode && t.id != DType::q8_act && t.id != DType::f8_e4m3) types.push_back(t.id);
  return types;
}

Converted convert(const io::ModelFiles& files, const std::filesystem::path& out, const ConvertOptions& options, ThreadPool& pool) {
  Converted done;
  const std::string ending = out.extension().string();
  if (ending == ".gguf") {
    if (!files.gguf()) fail_input("{}: is {}; a GGUF file is made from a GGUF file", files.path.string(), name(files.kind));
    const std::vector<PlannedTensor> plan = plan_gguf(files, options, done);
    io::GgufWriter writer(out, pairs_of_gguf(*files.gguf(), options.type), specs_of(plan),
                          files.gguf()->get_u64("general.alignment", io::GgufWriter::default_alignment));
    write_all(files, plan, writer, done, pool);
  } else if (ending == ".safetensors") {
    if (is_block(options.type)) fail_input("{}: safetensors cannot hold {}; F32, F16 and BF16 are accepted there", out.string(), name(options.type));
    std::vector<PlannedTensor> plan;
    for (const io::TensorEntry& t : files.tensors) plan.push_back(plan_tensor(files, t, options.type));
    io::SafetensorsWriter writer(out, specs_of(plan), {{"format", "pt"}});
    write_all(files, plan, writer, done, pool);
  } else {
    fail_input("{}: the ending says the format; .gguf and .safetensors are accepted", out.string());
  }
  return done;
}

}  // namespace ridge::quant
