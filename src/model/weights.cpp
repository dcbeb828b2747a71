#include "model/weights.h"

#include "base/error.h"

namespace ridge::model {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "(" + text + ")";
}

Shape to_shape(std::span<const std::int64_t> dims) {
  Shape shape;
  for (std::int64_t n : dims) shape.dims[shape.rank++] = n;
  return shape;
}

std::string in_layer(std::int64_t layer, std::string_view name) { return fmt::format("blk.{}.{}", layer, name); }

}  // namespace

ir::Value Weights::optional(const std::string& name, std::initializer_list<std::int64_t> shape) {
  asked_.insert(name);
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  std::optional<Tensor> tensor = find_(name, shape);
  if (!tensor) return {};
  const std::span<const std::int64_t> expected(shape.begin(), shape.size());
  if (!std::equal(expected.begin(), expected.end(), tensor->shape.begin(), tensor->shape.end()))
    fail_input("{} has the shape {}, the model's configuration wants {}", tensor->from, shape_text(tensor->shape),
               shape_text(expected));
  const DType dtype = tensor->shape.size() == 1 ? DType::f32 : tensor->dtype;
  const ir::Value value = values_[name] = program_.weight(name, dtype, to_shape(tensor->shape));
  bindings_.push_back({value, std::move(*tensor), {}, {}});
  return value;
}

ir::Value Weights::operator()(const std::string& name, std::initializer_list<std::int64_t> shape) {
  const ir::Value value = optional(name, shape);
  if (!value) fail_input("{}, which this architecture needs", describe_(name));
  return value;
}
ir::Value Weights::operator()(std::int64_t layer, std::string_view name, std::initializer_list<std::int64_t> shape) {
  return (*this)(in_layer(layer, name), shape);
}
ir::Value Weights::optional(std::int64_t layer, std::string_view name, std::initializer_list<std::int64_t> shape) {
  return optional(in_layer(layer, name), shape);
}

ir::Value Weights::constant(const std::string& name, std::vector<float> values) {
  const ir::Value value = program_.weight(name, DType::f32, {std::int64_t(values.size())});
  bindings_.push_back({value, {}, std::move(values), {}});
  return value;
}

std::optional<Tensor> Weights::raw(const std::string& name) {
  asked_.insert(name);
  return find_(name, {});
}

}  // namespace ridge::model
