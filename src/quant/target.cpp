#include "quant/target.h"

#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "quant/stream.h"

namespace ridge::quant {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t header_room = std::uint64_t(1) << 20;

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

}  // namespace

void check_file(const fs::path& out, Overwrite overwrite) {
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

void check_type_for_safetensors(const fs::path& out, const ConvertOptions& options) {
  if (options.type && is_block(*options.type))
    fail_input("{}: safetensors cannot hold {}; F32, F16 and BF16 are accepted there", out.string(),
               name(*options.type));
  if (!options.rules.empty()) fail_input("--tensor goes with GGUF files only; in safetensors all have one type");
}

NewFolder::NewFolder(const fs::path& out) : name_(out.has_filename() ? out : out.parent_path()) {
  std::error_code error;
  if (fs::exists(name_, error) && !(fs::is_directory(name_, error) && fs::is_empty(name_, error)))
    fail_input("{}: is there already; a folder is not replaced, not even with --force: remove it, or name another",
               name_.string());
  temporary_ = fmt::format("{}.part-{}", name_.string(), ::getpid());
  if (!fs::create_directory(temporary_, error))
    fail_input("{}: cannot be made: {}", temporary_.string(), error ? error.message() : "it is there already");
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!finished_) fs::remove_all(temporary_, ignored);
}

void NewFolder::finish() {
  std::error_code error;
  fs::rename(temporary_, name_, error);  // over an empty folder, too
  if (error) fail_machine("{}: cannot be renamed to {}: {}", temporary_.string(), name_.string(), error.message());
  finished_ = true;
}

void put_type(std::span<const PlannedTensor> plan, io::GgufPairs& pairs) {
  const std::optional<DType> type = main_type(plan);
  if (type) pairs.put_u32("general.file_type", file_type(*type));
  if (type && is_block(*type)) pairs.put_u32("general.quantization_version", 2);
}

void write_gguf(const io::ModelFiles* files, const fs::path& out, const GgufPlan& plan, Converted& done,
                ThreadPool& pool) {
  count(plan.tensors, done);
  check_room(out, std::uint64_t(done.bytes) + plan.pairs.bytes().size() + header_room);
  io::GgufWriter writer(out, plan.pairs, specs_of(plan.tensors), plan.alignment);
  write_all(files, plan.tensors, writer, done, pool);
}

void write_safetensors(const io::ModelFiles* files, const fs::path& out, const std::vector<PlannedTensor>& plan,
                       Converted& done, ThreadPool& pool) {
  count(plan, done);
  check_room(out, std::uint64_t(done.bytes) + header_room);
  io::SafetensorsWriter writer(out, specs_of(plan), {{"format", "pt"}});
  write_all(files, plan, writer, done, pool);
}

}  // namespace ridge::quant
