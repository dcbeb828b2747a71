// From a path to a recorded program: description (what the files say), then record (the family writes its calls).
// Weights are bound to memory afterwards, for a target, by program/bind_weights.h.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/model_files.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/random_weights.h"
#include "model/weights.h"
#include "program/bind_weights.h"

namespace ridge::model {

// What the files of a model say. Opening reads headers only; tensors stay in the mapping that `files` keeps.
struct Description {
  Config config;
  std::map<std::string, Tensor> tensors;  // by ridge's names; empty for a model without a file
  DType random_dtype = DType::bf16;       // of the matrices of a model without a file
  bool tied = false;                      // the head is the embedding, whatever else a file holds
  std::string path;
  std::shared_ptr<const io::ModelFiles> files;  // what the tensors' bytes point into; null for a model without a file
  std::shared_ptr<RandomWeights> random;        // of a model without a file that is to be run
};

// Refuses, naming file, key or tensor, what ridge does not know and what would change the result.
Description open(const std::filesystem::path& path);

struct RecordOptions {
  std::int64_t kv_blocks = 0, kv_block_size = 0;  // the pool's size and page (engine/kv_pool.h)
  std::int64_t blocks_per_sequence = 0;           // width of the block table
  DType kv_dtype = DType::f16;
  std::int64_t context = 0;  // the longest sequence that will be run: longrope asks
};

struct Recorded {
  ir::Program program;
  Batch batch;
  ir::Value logits;  // (R, V) f32, an output
  std::vector<Binding> bindings;
};

// Records the family's forward. The user's error where the architecture is unknown, or where the file holds a tensor
// that the family does not use: it would change the result.
Recorded record(const Description& model, const RecordOptions& options);

// Writes down in rows, in memory of their own, the weights that the files hold transposed.
void materialize(std::vector<Binding>& bindings);

// The recorded weights where the files (and `recorded`, which keeps constants) hold them, for program::bind_weights.
std::vector<program::WeightSource> weight_sources(const Recorded& recorded);

}  // namespace ridge::model
