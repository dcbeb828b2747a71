#include "quant/convert.h"

#include <algorithm>

#include "base/error.h"
#include "io/hf_folder_write.h"
#include "model/config_from_hf.h"
#include "model/gguf_config.h"
#include "quant/target.h"
#include "quant/text_pairs.h"

namespace ridge::quant {
namespace fs = std::filesystem;
namespace {

// Everything as it is, but what describes the file rather than the model.
io::GgufPairs pairs_of_gguf(const io::GgufMetadata& metadata, std::span<const PlannedTensor> plan, bool same_types) {
  io::GgufPairs pairs;
  for (const io::GgufValue& v : metadata.all()) {
    const bool about_types = v.key == "general.file_type" || v.key == "general.quantization_version";
    if (v.key != "general.alignment" && !v.key.starts_with("split.") && (same_types || !about_types)) pairs.put(v);
  }
  if (!same_types) put_type(plan, pairs);
  return pairs;
}

GgufPlan gguf_from_gguf(const io::ModelFiles& files, TypeChooser& types, const ConvertOptions& options) {
  GgufPlan plan{.tensors = plan_gguf(files, types)};
  plan.pairs = pairs_of_gguf(*files.gguf(), plan.tensors, !options.type && options.rules.empty());
  plan.alignment = files.gguf()->get_u64("general.alignment", io::GgufWriter::default_alignment);
  return plan;
}

GgufPlan gguf_from_hf(const fs::path& path, TypeChooser& types, const ConvertOptions& options, Converted& done) {
  const model::Description model = model::open(path);
  model::record(
      model, {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});  // all is there, and fits
  GgufPlan plan{.tensors = plan_gguf_from_hf(model, types), .files = model.files};
  model::put_gguf_config(model.config, plan.pairs);
  put_type(plan.tensors, plan.pairs);
  put_text(*model.files, model.config, options.tokenizer, plan.pairs, done.notes);
  const auto has = [&](const char* name) {
    return std::any_of(plan.tensors.begin(), plan.tensors.end(),
                       [&](const PlannedTensor& t) { return t.spec.name == name; });
  };
  for (std::string& line : model::unread_by_llama_cpp(model.config, has("blk.0.attn_output.bias")))
    done.notes.push_back(std::move(line));
  return plan;
}

void to_gguf(const io::ModelFiles& files, const fs::path& out, const ConvertOptions& options, Converted& done,
             ThreadPool& pool) {
  if (!files.gguf() && !files.config)
    fail_input("{}: is {}; a GGUF file is made from a GGUF file or a Hugging Face folder", files.path.string(),
               name(files.kind));
  TypeChooser types(options, done.notes);
  const GgufPlan plan =
      files.gguf() ? gguf_from_gguf(files, types, options) : gguf_from_hf(files.path, types, options, done);
  types.finish();
  write_gguf(plan.files ? plan.files.get() : &files, out, plan, done, pool);
}

void to_folder(const io::ModelFiles& files, const fs::path& out, const ConvertOptions& options, Converted& done,
               ThreadPool& pool) {
  if (!files.config)
    fail_input(
        "{}: a Hugging Face folder is made from such a folder only, and {} is {}; .gguf and .safetensors are the "
        "endings of files",
        out.string(), files.path.string(), name(files.kind));
  if (!files.without_weights.empty()) fail_input("{}: {}", files.path.string(), files.without_weights);
  if (options.type && files.config->has("quantization_config"))
    model::config_from_hf(*files.config);  // known, or refused
  const std::vector<PlannedTensor> plan = plan_safetensors(files, options.type);
  NewFolder folder(out);
  write_safetensors(&files, folder.path() / "model.safetensors", plan, done, pool);
  if (done.interrupted) return;
  io::write_hf_companions(files.folder, folder.path(), options.type);
  folder.finish();
}

}  // namespace

std::vector<DType> convertible_types() {
  std::vector<DType> types;
  for (const DTypeInfo& t : all_dtypes())
    if (t.encode && t.id != DType::q8_act && t.id != DType::f8_e4m3) types.push_back(t.id);
  return types;
}

Converted convert(const io::ModelFiles& files, const fs::path& out, const ConvertOptions& options, ThreadPool& pool) {
  Converted done;
  const bool gguf = out.extension() == ".gguf", safetensors = out.extension() == ".safetensors";
  if (!gguf) check_type_for_safetensors(out, options);
  if (gguf || safetensors) {
    check_not_input(out, files);
    check_file(out, options.overwrite);
  }
  if (gguf) to_gguf(files, out, options, done, pool);
  else if (safetensors) write_safetensors(&files, out, plan_safetensors(files, options.type), done, pool);
  else to_folder(files, out, options, done, pool);
  return done;
}

}  // namespace ridge::quant
