// Where a converted model goes: what may be replaced, whether there is room, and that nothing half is left.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "io/gguf_write.h"
#include "quant/plan.h"

namespace ridge::quant {

// Fails (input) where a folder is there, or a file that may not be replaced.
void check_file(const std::filesystem::path& out, Overwrite overwrite);
// Fails (input) where it is one of the files that are read, under whatever name.
void check_not_input(const std::filesystem::path& out, const io::ModelFiles& files);

// A folder that gets its name only once it is finished; before that, it goes away with this.
class NewFolder {
 public:
  // Fails (input) where `out` is there already and not an empty folder: a folder cannot be replaced in one step.
  explicit NewFolder(const std::filesystem::path& out);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();
  const std::filesystem::path& path() const { return temporary_; }
  void finish();

 private:
  std::filesystem::path name_, temporary_;
  bool finished_ = false;
};

struct GgufPlan {
  std::vector<PlannedTensor> tensors;
  io::GgufPairs pairs = {};
  std::uint64_t alignment = io::GgufWriter::default_alignment;
  std::shared_ptr<const io::ModelFiles> files = {};  // keeps what the tensors point at, where that is not the caller's
};

// Write the file, counting into `done`; `files` is null for tensors without sources. Fail (machine) where the disk has
// too little room for it.
void write_gguf(const io::ModelFiles* files, const std::filesystem::path& out, const GgufPlan& plan, Converted& done,
                ThreadPool& pool);
void write_safetensors(const io::ModelFiles* files, const std::filesystem::path& out,
                       const std::vector<PlannedTensor>& plan, Converted& done, ThreadPool& pool);

// general.file_type, by the type of most values.
void put_type(std::span<const PlannedTensor> plan, io::GgufPairs& pairs);

// Fails (input) on what safetensors cannot hold.
void check_type_for_safetensors(const std::filesystem::path& out, const ConvertOptions& options);

}  // namespace ridge::quant
