#include "ir/program.h"

#include "base/error.h"
#include "ir/op_info.h"

namespace ridge::ir {

std::string Where::text() const {
  if (layer < 0) return part;
  return part.empty() ? fmt::format("layer {}", layer) : fmt::format("layer {} / {}", layer, part);
}

std::string Call::text() const {
  const std::string place = where.text();
  return fmt::format("call {} {}{}", id, op->name, place.empty() ? "" : " (" + place + ")");
}

Value Program::new_value(ValueInfo info) {
  values_.push_back(std::move(info));
  return Value{std::int32_t(values_.size() - 1)};
}

Value Program::input(std::string name, DType dtype, Shape shape) {
  return new_value({.name = std::move(name), .kind = Kind::input, .dtype = dtype, .shape = shape});
}
Value Program::weight(std::string name, DType dtype, Shape shape) {
  return new_value({.name = std::move(name), .kind = Kind::weight, .dtype = dtype, .shape = shape});
}
Value Program::state(std::string name, DType dtype, Shape shape) {
  return new_value({.name = std::move(name), .kind = Kind::state, .dtype = dtype, .shape = shape});
}

std::vector<Value> Program::record(const OpInfo& op, std::vector<Value> in, Params params) {
  const std::vector<ValueSpec> specs = op.infer(*this, in, params);
  Call call{.id = next_id_++, .op = &op, .in = std::move(in), .params = std::move(params), .where = here_};
  for (const ValueSpec& spec : specs) {
    const bool version = spec.version_of >= 0;
    const Value previous = version ? call.in[std::size_t(spec.version_of)] : Value{};
    call.out.push_back(new_value({.name = version ? (*this)[previous].name : fmt::format("v{}", values_.size()),
                                  .kind = version ? Kind::state : Kind::intermediate,
                                  .dtype = spec.dtype,
                                  .shape = spec.shape,
                                  .producer = std::int32_t(calls_.size()),
                                  .version_of = previous}));
  }
  calls_.push_back(call);
  return call.out;
}

void Program::mark_output(Value v, std::string name) {
  ValueInfo& info = (*this)[v];
  if (info.kind != Kind::intermediate) fail_bug("{} cannot be an output: it is no intermediate", info.name);
  info.kind = Kind::output;
  info.name = std::move(name);
}

Program::Scope::Scope(Program& p, std::string_view name, int layer) : program_(p), outer_(p.here_) {
  if (layer >= 0) {
    p.here_.layer = layer;
    return;
  }
  if (!p.here_.part.empty()) p.here_.part += " / ";
  p.here_.part += name;
}
Program::Scope::~Scope() { program_.here_ = outer_; }

Value Program::first_version(Value v) const {
  while ((*this)[v].version_of) v = (*this)[v].version_of;
  return v;
}

void Program::replace_calls(std::vector<Call> calls) {
  for (const Call& c : calls)
    for (Value v : c.out) (*this)[v].producer = -1;
  std::vector<bool> made(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i)
    made[i] = values_[i].kind == Kind::input || values_[i].kind == Kind::weight ||
              (values_[i].kind == Kind::state && !values_[i].version_of);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (Value v : calls[i].in)
      if (v && !made[std::size_t(v.id)]) fail_bug("{} uses {} before it is made", calls[i].text(), (*this)[v].name);
    for (Value v : calls[i].out) {
      if (made[std::size_t(v.id)]) fail_bug("{} makes {} twice", calls[i].text(), (*this)[v].name);
      made[std::size_t(v.id)] = true;
      (*this)[v].producer = std::int32_t(i);
    }
  }
  calls_ = std::move(calls);
}

std::string Program::text() const {
  auto names = [&](std::span<const Value> list) {
    std::string out;
    for (Value v : list) out += (out.empty() ? "" : ", ") + (v ? (*this)[v].name : "-");
    return out;
  };
  std::string out;
  for (const Call& c : calls_) {
    const std::string params = c.op->describe ? c.op->describe(c.params) : "";
    out +=
        fmt::format("{:4}  {} = {}({}){}{}\n", c.id, names(c.out), c.op->name, names(c.in),
                    params.empty() ? "" : " {" + params + "}", c.where.text().empty() ? "" : "  # " + c.where.text());
  }
  return out;
}

void refuse(std::string_view op, const std::string& reason) { fail_bug("{}: {}", op, reason); }

}  // namespace ridge::ir
