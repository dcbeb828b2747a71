#include "quant/convert.h"

#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "io/gguf_write.h"
#include "io/hf_folder_write.h"
#include "io/quote.h"
#include "model/config_from_hf.h"
#include "model/gguf_config.h"
#include "quant/plan.h"
#include "quant/stream.h"
#include "quant/text_pairs.h"

namespace ridge::quant {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t header_room = std::uint64_t(1) << 20;

void check_target(const fs::path& out, Overwrite overwrite) {
  std::error_code ignored;
  const fs::file_status there = fs::status(out, ignored);
  if (!fs::exists(there) || fs::is_character_file(there)) return;
  if (fs::is_directory(there)) fail_input("{}: is a folder", out.string());
  if (overwrite == Overwrite::refuse) fail_input("{}: is there already; --force replaces it", out.string());
}

void check_not_input(const fs::path& out, const io::ModelFiles& files) {
  std::error_code ignored;
  for (const std::string& name : files.file_names)
    if (fs::equivalent(out, name, ignored))
      fail_input("{}: is the model that is read; name another file", out.string());
}

void check_room(const fs::path& out, std::uint64_t needed) {
  std::error_code error;
  if (fs::is_character_file(out, error)) return;
  const fs::path folder = out.has_parent_path() ? out.parent_path() : fs::path(".");
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < needed)
    fail_machine("{}: needs {}, and {} are free there", out.string(), format_bytes(double(needed)),
                 format_bytes(double(space.available)));
}

std::vector<io::TensorSpec> specs_of(const std::vector<PlannedTensor>& plan) {
  std::vector<io::TensorSpec> specs;
  for (const PlannedTensor& t : plan) specs.push_back(t.spec);
  return specs;
}

void count(const std::vector<PlannedTensor>& plan, Converted& done) {
  done.tensors = std::int64_t(plan.size());
  for (const PlannedTensor& t : plan) {
    done.bytes += std::int64_t(io::stored_bytes(t.spec));
    done.copied += t.as_stored() ? 1 : 0;
    for (const io::TensorEntry* entry : t.sources) done.source_bytes += std::int64_t(entry->bytes.value_or(0));
  }
}

template <class Writer>
void write_all(const io::ModelFiles* files, const std::vector<PlannedTensor>& plan, Writer& writer, Converted& done,
               ThreadPool& pool) {
  Progress progress(files ? "converting" : "writing", done.bytes, Unit::bytes);
  for (const PlannedTensor& t : plan)
    if (!stream_tensor(files, t, pool, progress, [&](std::span<const std::byte> bytes) { writer.append(bytes); })) {
      done.interrupted = true;
      return;
    }
  writer.finish();
}

void put_type(std::span<const PlannedTensor> plan, io::GgufPairs& pairs) {
  const std::optional<DType> type = main_type(plan);
  if (type) pairs.put_u32("general.file_type", file_type(*type));
  if (type && is_block(*type)) pairs.put_u32("general.quantization_version", 2);
}

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

struct GgufPlan {
  std::vector<PlannedTensor> tensors;
  io::GgufPairs pairs = {};
  std::uint64_t alignment = io::GgufWriter::default_alignment;
  std::shared_ptr<const io::ModelFiles> files = {};  // keeps what the tensors point at, where that is not the caller's
};

GgufPlan gguf_from_gguf(const io::ModelFiles& files, TypeChooser& types, const ConvertOptions& options) {
  GgufPlan plan{
      plan_gguf(files, types), {}, files.gguf()->get_u64("general.alignment", io::GgufWriter::default_alignment)};
  plan.pairs = pairs_of_gguf(*files.gguf(), plan.tensors, !options.type && options.rules.empty());
  return plan;
}

GgufPlan gguf_from_hf(const fs::path& path, TypeChooser& types, const ConvertOptions& options, Converted& done) {
  const model::Description model = model::open(path);
  model::record(model, {.kv_blocks = 1, .kv_block_size = 16, .blocks_per_sequence = 1, .context = 16});  // all is there
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

void write_gguf(const io::ModelFiles* files, const fs::path& out, const GgufPlan& plan, Converted& done,
                ThreadPool& pool) {
  count(plan.tensors, done);
  check_room(out, std::uint64_t(done.bytes) + plan.pairs.bytes().size() + header_room);
  io::GgufWriter writer(out, plan.pairs, specs_of(plan.tensors), plan.alignment);
  write_all(files, plan.tensors, writer, done, pool);
}

void write_safetensors(const io::ModelFiles& files, const fs::path& out, const std::vector<PlannedTensor>& plan,
                       Converted& done, ThreadPool& pool) {
  count(plan, done);
  check_room(out, std::uint64_t(done.bytes) + header_room);
  io::SafetensorsWriter writer(out, specs_of(plan), {{"format", "pt"}});
  write_all(&files, plan, writer, done, pool);
}

// Removes a folder that was not finished.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& out)
      : name_(out), temporary_(fmt::format("{}.part-{}", out.string(), ::getpid())) {
    std::error_code error;
    if (!fs::create_directory(temporary_, error))
      fail_input("{}: cannot be made: {}", temporary_.string(), error ? error.message() : "it is there already");
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    if (!finished_) fs::remove_all(temporary_, ignored);
  }
  const fs::path& path() const { return temporary_; }
  void finish() {
    std::error_code error;
    fs::rename(temporary_, name_, error);  // over an empty folder, too
    if (error) fail_machine("{}: cannot be renamed to {}: {}", temporary_.string(), name_.string(), error.message());
    finished_ = true;
  }

 private:
  fs::path name_, temporary_;
  bool finished_ = false;
};

void write_folder(const io::ModelFiles& files, fs::path out, const ConvertOptions& options, Converted& done,
                  ThreadPool& pool) {
  if (!files.config)
    fail_input(
        "{}: a Hugging Face folder is made from such a folder only, and {} is {}; .gguf and .safetensors are the "
        "endings of files",
        out.string(), files.path.string(), name(files.kind));
  if (!files.without_weights.empty()) fail_input("{}: {}", files.path.string(), files.without_weights);
  if (!out.has_filename()) out = out.parent_path();  // "folder/"
  std::error_code ignored;
  if (fs::exists(out, ignored) && !(fs::is_directory(out, ignored) && fs::is_empty(out, ignored)))
    fail_input("{}: is there already; a folder is not replaced, not even with --force: remove it, or name another",
               out.string());
  if (options.type && files.config->has("quantization_config"))
    model::config_from_hf(*files.config);  // known, or refused
  const std::vector<PlannedTensor> plan = plan_safetensors(files, options.type);
  NewFolder folder(out);
  write_safetensors(files, folder.path() / "model.safetensors", plan, done, pool);
  if (done.interrupted) return;
  io::write_hf_companions(files.folder, folder.path(), options.type);
  folder.finish();
}

void check_type_for_floats(const fs::path& out, const ConvertOptions& options) {
  if (options.type && is_block(*options.type))
    fail_input("{}: safetensors cannot hold {}; F32, F16 and BF16 are accepted there", out.string(),
               name(*options.type));
  if (!options.rules.empty()) fail_input("--tensor goes with GGUF files only; in safetensors all have one type");
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
  const std::string ending = out.extension().string();
  if (ending != ".gguf") check_type_for_floats(out, options);
  if (ending == ".gguf" || ending == ".safetensors") {
    check_not_input(out, files);
    check_target(out, options.overwrite);
  }
  if (ending == ".gguf") {
    TypeChooser types(options, done.notes);
    if (!files.gguf() && !files.config)
      fail_input("{}: is {}; a GGUF file is made from a GGUF file or a Hugging Face folder", files.path.string(),
                 name(files.kind));
    const GgufPlan plan =
        files.gguf() ? gguf_from_gguf(files, types, options) : gguf_from_hf(files.path, types, options, done);
    types.finish();
    write_gguf(plan.files ? plan.files.get() : &files, out, plan, done, pool);
  } else if (ending == ".safetensors") {
    write_safetensors(files, out, plan_safetensors(files, options.type), done, pool);
  } else {
    write_folder(files, out, options, done, pool);
  }
  return done;
}

Converted write_random(const model::Description& shape, const fs::path& out, const ConvertOptions& options,
                       std::uint64_t seed, ThreadPool& pool) {
  if (out.extension() != ".gguf")
    fail_input("{}: random weights are written as GGUF; the ending must be .gguf", out.string());
  check_target(out, options.overwrite);
  Converted done;
  TypeChooser types(options, done.notes);
  GgufPlan plan;
  const std::vector<RandomTensor> tensors = random_tensors(shape, seed);
  const bool has_output =
      std::any_of(tensors.begin(), tensors.end(), [](const auto& t) { return t.name == "output.weight"; });
  for (const RandomTensor& t : tensors) {
    PlannedTensor p{.spec = {t.name, DType::f32, t.shape}, .random = t.values};
    if (const auto type = types.choose(t.name, t.shape, DType::f32, is_head(t.name, has_output))) p.spec.dtype = *type;
    plan.tensors.push_back(std::move(p));
  }
  types.finish();
  for (auto& [name, values] : model::gguf_rope_factors(shape.config)) {
    const auto n = std::int64_t(values.size());
    plan.tensors.push_back({.spec = {name, DType::f32, {n}}, .values = std::move(values)});
  }
  model::put_gguf_config(shape.config, plan.pairs);
  put_type(plan.tensors, plan.pairs);
  put_byte_tokenizer(shape.config.vocab, plan.pairs);
  write_gguf(nullptr, out, plan, done, pool);
  return done;
}

}  // namespace ridge::quant
