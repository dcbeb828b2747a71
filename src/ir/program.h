// A program: the straight list of calls that a model's forward wrote down, over SSA values. Acyclic by construction:
// a call names only values that exist already. Everything else in ridge reads this list.
#pragma once
#include <any>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace ridge::ir {

struct OpInfo;  // ir/op_info.h: one operation's row of op/table.cpp

struct Value {  // a handle into the program that made it
  std::int32_t id = -1;
  explicit operator bool() const { return id >= 0; }  // absent: an optional input that is not there
  bool operator==(const Value&) const = default;
};

enum class Kind : std::uint8_t {
  input,         // written by the caller before each run
  weight,        // immutable, bound once
  state,         // lives across runs (the KV cache); each write makes a new version
  intermediate,  // lives in the arena while it is needed
  output,        // an intermediate that the caller reads after the run
};

struct ValueInfo {
  std::string name;
  Kind kind = Kind::intermediate;
  DType dtype = DType::f32;
  Shape shape;
  std::int32_t producer = -1;  // index of the call in Program::calls(), -1 for inputs, weights and first states
  Value version_of;            // a later version of this state: the same storage
};

struct Where {  // "layer 3 / attention / qkv"
  int layer = -1;
  std::string part;
  std::string text() const;
};

// One op's parameters: a plain struct of that op. No absolute sizes that a split over devices would change.
class Params {
 public:
  Params() = default;
  template <class P> Params(P params) : held_(std::move(params)) {}
  template <class P> const P& as() const { return *std::any_cast<P>(&held_); }
  template <class P> P& as() { return *std::any_cast<P>(&held_); }

 private:
  std::any held_;
};

struct Call {
  int id = -1;  // stable through every pass; the id in explain, bench, profile and errors
  const OpInfo* op = nullptr;
  std::vector<Value> in, out;
  Params params;
  Where where;
  std::vector<int> covers;  // ids of recorded calls that a pass folded into this one

  std::string text() const;  // "call 17 linear (layer 3 / attention / qkv)"
};

class Program {
 public:
  Value input(std::string name, DType dtype, Shape shape);
  Value weight(std::string name, DType dtype, Shape shape);
  Value state(std::string name, DType dtype, Shape shape);

  // Appends a call and returns its outputs. Runs the op's shape rule, which refuses inputs that do not fit.
  std::vector<Value> record(const OpInfo& op, std::vector<Value> in, Params params = {});
  void mark_output(Value v, std::string name);

  // Names where the calls recorded from here on belong, until the scope ends.
  class Scope {
   public:
    Scope(Program& p, std::string_view name, int layer);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Program& program_;
    Where outer_;
  };
  [[nodiscard]] Scope scope(std::string_view name, int layer = -1) { return Scope(*this, name, layer); }

  const ValueInfo& operator[](Value v) const { return values_[std::size_t(v.id)]; }
  ValueInfo& operator[](Value v) { return values_[std::size_t(v.id)]; }
  std::span<const ValueInfo> values() const { return values_; }
  std::span<const Call> calls() const { return calls_; }
  Value first_version(Value v) const;  // the state value whose storage v lives in; v itself where it is no version

  // For passes: a pass edits the list and then puts it back. replace_calls renumbers producers and refuses a list
  // in which a value is used before it is made, or made twice.
  Value new_value(ValueInfo info);
  std::vector<Call> take_calls() { return std::move(calls_); }
  void replace_calls(std::vector<Call> calls);
  int next_call_id() { return next_id_++; }

  std::string text() const;  // one line per call, for explain and for tests

 private:
  std::vector<ValueInfo> values_;
  std::vector<Call> calls_;
  Where here_;
  int next_id_ = 0;
};

}  // namespace ridge::ir
