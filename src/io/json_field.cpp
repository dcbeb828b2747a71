#include "io/json_field.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace ridge::io {

void JsonField::fail(std::string_view what) const { fail_input("{}: '{}': {}", file_, path_, what); }

bool JsonField::is_there() const { return value_ && !value_->is_null(); }
bool JsonField::is_string() const { return value_ && value_->is_string(); }
bool JsonField::is_object() const { return value_ && value_->is_object(); }

JsonField JsonField::operator[](std::string_view key) const {
  if (!is_object()) fail(is_there() ? "wanted an object" : "is missing");
  const auto found = value_->find(std::string(key));
  return {found == value_->end() ? nullptr : &*found,
          path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key), file_};
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_ || !value_->is_array()) fail(is_there() ? "wanted an array" : "is missing");
  std::vector<JsonField> all;
  all.reserve(value_->size());
  for (const auto& v : *value_) all.emplace_back(&v, fmt::format("{}[{}]", path_, all.size()), file_);
  return all;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  if (!is_object()) fail(is_there() ? "wanted an object" : "is missing");
  std::vector<std::pair<std::string, JsonField>> all;
  for (const auto& [key, v] : value_->items())
    all.emplace_back(key, JsonField(&v, fmt::format("{}.{}", path_, key), file_));
  return all;
}

std::string JsonField::text() const {
  if (!is_string()) fail(is_there() ? "wanted a string" : "is missing");
  return value_->get<std::string>();
}
std::string JsonField::text(std::string_view otherwise) const { return is_there() ? text() : std::string(otherwise); }

bool JsonField::truth() const {
  if (!value_ || !value_->is_boolean()) fail(is_there() ? "wanted true or false" : "is missing");
  return value_->get<bool>();
}
bool JsonField::truth(bool otherwise) const { return is_there() ? truth() : otherwise; }

double JsonField::number(double otherwise) const {
  if (!is_there()) return otherwise;
  if (!value_->is_number()) fail("wanted a number");
  return value_->get<double>();
}

std::uint64_t JsonField::count(std::uint64_t most) const {
  if (!value_ || !value_->is_number_unsigned()) fail(is_there() ? "wanted a whole number, not negative" : "is missing");
  const auto v = value_->get<std::uint64_t>();
  if (v > most) fail(fmt::format("is {}; at most {} is accepted", v, most));
  return v;
}

}  // namespace ridge::io
