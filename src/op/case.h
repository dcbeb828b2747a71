// One case of one op, for four users: test (kernel against reference), bench (time against the bound), grad (finite
// differences) and support (which device x dtype exist). A case records exactly one call and says what its inputs hold.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ir/op_info.h"

namespace ridge::op {

enum class Contents : std::uint8_t { filled, none };  // none: only the program is wanted, as `ridge support` does

// Makes the values of a case and their contents, from a seed.
class CaseInputs {
 public:
  CaseInputs(std::uint64_t seed, Sizes sizes, Contents contents = Contents::filled)
      : sizes_(sizes), seed_(seed), fill_(contents) {}

  ir::Program program;
  const Sizes& sizes() const { return sizes_; }

  // Normally distributed times `scale`, in any dtype (encoded where there is an encoder, else from random blocks).
  ir::Value activation(std::string name, Shape shape, float scale = 1);
  ir::Value activation_q8(std::string name, Shape shape);
  ir::Value weight(std::string name, DType dtype, Shape shape, float scale = 1);
  ir::Value state(std::string name, DType dtype, Shape shape);  // filled with normal values
  ir::Value ints(std::string name, Shape shape, std::vector<std::int32_t> contents);
  ir::Value bytes(std::string name, Shape shape, std::vector<std::byte> contents);  // dtype u8

  // Turns a recorded output into q8_act, as the pass fuse_quantize does.
  void store_q8(ir::Value out) { program[out].dtype = DType::q8_act; }

  const std::vector<std::byte>& contents(ir::Value v) const { return contents_[std::size_t(v.id)]; }
  float normal();  // the next of the case's own random numbers

 private:
  ir::Value keep(ir::Value v, std::vector<std::byte> contents);
  Sizes sizes_;
  std::uint64_t seed_;
  Contents fill_;
  std::vector<std::vector<std::byte>> contents_;
};

struct Case {
  std::string name;  // "q4_1 7x576 -> 192"
  Sizes sizes;
  std::function<void(CaseInputs&)> record;  // makes the inputs and records one call on inputs.program
  double tolerance = 1e-6;                  // of ||out - ref|| / ||ref||, each output on its own
  bool timed = false;                       // a shape worth a row of `ridge bench`
  std::vector<ir::Span> sequences = {};     // of a timed case: what the step descriptor is made from
  ir::StepRules rules = {};                 // and how

  std::vector<ir::Span> spans() const {
    return sequences.empty() ? std::vector<ir::Span>{{sizes.tokens, 0}} : sequences;
  }
};

}  // namespace ridge::op
