// A model's weights by name, as a forward pass asks for them. Names are GGUF's without their ending: "token_embd",
// "blk.3.attn_q", with ".bias" for a bias; what files call otherwise, fuse or split is renamed and cut when they are
// opened (model/open.cpp), never copied.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/model_files.h"
#include "ir/program.h"
#include "tensor/view.h"

namespace ridge::model {

struct Tensor {  // one tensor of a file: bytes in rows, outermost dimension first; no bytes for a model without a file
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  std::string from;                        // "FILE: tensor 'NAME'", for messages
  const io::TensorEntry* entry = nullptr;  // where it is from, to let go of its pages
  // Not 0: stored transposed, as rows of this many elements of which this tensor's are the first (GPT-2's Conv1D).
  std::int64_t transposed_row = 0;
  // The slices of the outermost dimension, where the file holds each apart (experts). Then `bytes` is empty.
  std::vector<Tensor> slices;
};

struct Binding {  // which bytes a weight value stands for
  ir::Value value;
  Tensor tensor;
  std::vector<float> constant;   // computed at load, instead of bytes
  std::vector<std::byte> owned;  // the tensor's values in rows, where the file has them otherwise (materialize)
};

class Weights {
 public:
  using Find = std::function<std::optional<Tensor>(const std::string& name, std::span<const std::int64_t> shape)>;

  // `find` gives the tensor of a name (a model without a file makes one of the shape asked for); `describe` says what
  // the files call it, for messages.
  Weights(ir::Program& program, Find find, std::function<std::string(const std::string& name)> describe)
      : program_(program), find_(std::move(find)), describe_(std::move(describe)) {}

  // The weight of this name; the user's error where the file lacks it or holds another shape. Asking twice for one
  // name gives the same value. Vectors (norms, biases) are handed to kernels as f32 whatever the file holds.
  ir::Value operator()(const std::string& name, std::initializer_list<std::int64_t> shape);
  ir::Value operator()(std::int64_t layer, std::string_view name, std::initializer_list<std::int64_t> shape);
  // Absent where the file has no such tensor.
  ir::Value optional(const std::string& name, std::initializer_list<std::int64_t> shape);
  ir::Value optional(std::int64_t layer, std::string_view name, std::initializer_list<std::int64_t> shape);
  // A vector computed at load, as a weight.
  ir::Value constant(const std::string& name, std::vector<float> values);

  std::optional<Tensor> raw(const std::string& name);  // looked at, not recorded; counts as asked for

  std::vector<Binding> take_bindings() { return std::move(bindings_); }
  const std::set<std::string>& asked() const { return asked_; }  // every name so far: what is left in a file is unknown

 private:
  ir::Program& program_;
  Find find_;
  std::function<std::string(const std::string& name)> describe_;
  std::map<std::string, ir::Value> values_;
  std::vector<Binding> bindings_;
  std::set<std::string> asked_;
};

}  // namespace ridge::model
