#include "io/hf_config.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "io/folder.h"
#include "io/json_bounded.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

using Json = nlohmann::ordered_json;
using Scalar = HfConfig::Scalar;

constexpr JsonLimits limits{.bytes = 16 << 20, .values = 1'000'000, .depth = 16};

Scalar scalar_of(const Json& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_unsigned() && v.get<std::uint64_t>() > std::uint64_t(INT64_MAX)) return v.get<double>();
  if (v.is_number_integer()) return v.get<std::int64_t>();
  if (v.is_number_float()) return v.get<double>();
  if (v.is_string()) return v.get<std::string>();
  return HfConfig::Other{};
}

std::string kind_of(const HfConfig::Value& v) {
  static constexpr const char* kinds[] = {"a boolean", "an integer", "a number", "a string", "a list or object"};
  return v.is_list ? fmt::format("a list of {}", v.items.size()) : kinds[v.items[0].index()];
}

}  // namespace

HfConfig HfConfig::parse(std::string_view json, std::string_view file) {
  const Json root = parse_json(json, file, limits);
  if (!root.is_object()) fail_input("{}: is not a JSON object", file);
  HfConfig config;
  config.file_ = file;

  struct Open {
    std::string prefix;
    const Json* object;
  };
  std::vector<Open> open = {{"", &root}};  // objects still to be walked
  while (!open.empty()) {
    const Open now = std::move(open.back());
    open.pop_back();
    for (const auto& [key, v] : now.object->items()) {
      const std::string dotted = now.prefix + key;
      if (v.is_null()) continue;
      if (v.is_object()) {
        open.push_back({dotted + ".", &v});
        continue;
      }
      Value value{.is_list = v.is_array()};
      if (v.is_array())
        for (const Json& item : v) value.items.push_back(scalar_of(item));
      else value.items.push_back(scalar_of(v));
      if (!config.values_.emplace(dotted, std::move(value)).second)
        fail_input("{}: the key {} can be read in two ways", file, quote(dotted));  // "a.b" beside {"a": {"b"}}
    }
  }
  return config;
}

HfConfig HfConfig::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, limits.bytes), path.string());
}

void HfConfig::fail(std::string_view key, std::string_view message) const {
  fail_input("{}: key {} {}", file_, quote(key), message);
}

const HfConfig::Value* HfConfig::find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  found->second.looked_at = true;
  return &found->second;
}

const HfConfig::Value& HfConfig::require(std::string_view key) const {
  const Value* value = find(key);
  if (!value) fail(key, "is missing");
  return *value;
}

bool HfConfig::has(std::string_view key) const {
  if (find(key)) return true;
  const std::string inside = std::string(key) + ".";
  const auto next = values_.lower_bound(inside);
  return next != values_.end() && next->first.starts_with(inside);
}

std::string_view HfConfig::first_of(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names)
    if (has(name)) return name;
  return {};
}

std::vector<std::string> HfConfig::names_in(std::string_view object) const {
  const std::string prefix = object.empty() ? "" : std::string(object) + ".";
  std::set<std::string> names;
  for (auto at = values_.lower_bound(prefix); at != values_.end() && at->first.starts_with(prefix); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(prefix.size());
    names.emplace(rest.substr(0, rest.find('.')));
  }
  return {names.begin(), names.end()};
}

const Scalar& HfConfig::lone(std::string_view key, std::string_view wanted) const {
  const Value& v = require(key);
  if (v.is_list) fail(key, fmt::format("is {}; {} is accepted", kind_of(v), wanted));
  return v.items[0];
}

std::int64_t HfConfig::integer(std::string_view key) const {
  const auto* n = std::get_if<std::int64_t>(&lone(key, "an integer"));
  if (!n) fail(key, fmt::format("is {}; an integer is accepted", kind_of(require(key))));
  return *n;
}
double HfConfig::number(std::string_view key) const {
  const Scalar& v = lone(key, "a number");
  if (const auto* n = std::get_if<std::int64_t>(&v)) return double(*n);
  const auto* n = std::get_if<double>(&v);
  if (!n) fail(key, fmt::format("is {}; a number is accepted", kind_of(require(key))));
  return *n;
}
bool HfConfig::truth(std::string_view key) const {
  const auto* b = std::get_if<bool>(&lone(key, "true or false"));
  if (!b) fail(key, fmt::format("is {}; true or false is accepted", kind_of(require(key))));
  return *b;
}
const std::string& HfConfig::text(std::string_view key) const {
  const auto* s = std::get_if<std::string>(&lone(key, "a string"));
  if (!s) fail(key, fmt::format("is {}; a string is accepted", kind_of(require(key))));
  return *s;
}

std::int64_t HfConfig::integer(std::string_view key, std::int64_t otherwise) const {
  return find(key) ? integer(key) : otherwise;
}
double HfConfig::number(std::string_view key, double otherwise) const { return find(key) ? number(key) : otherwise; }
bool HfConfig::truth(std::string_view key, bool otherwise) const { return find(key) ? truth(key) : otherwise; }
std::string HfConfig::text(std::string_view key, std::string_view otherwise) const {
  return find(key) ? text(key) : std::string(otherwise);
}

std::vector<std::int64_t> HfConfig::integers(std::string_view key) const {
  std::vector<std::int64_t> out;
  for (const Scalar& item : require(key).items) {
    const auto* n = std::get_if<std::int64_t>(&item);
    if (!n) fail(key, "holds something else than integers");
    out.push_back(*n);
  }
  return out;
}
std::vector<double> HfConfig::numbers(std::string_view key) const {
  std::vector<double> out;
  for (const Scalar& item : require(key).items) {
    if (const auto* n = std::get_if<std::int64_t>(&item)) out.push_back(double(*n));
    else if (const auto* d = std::get_if<double>(&item)) out.push_back(*d);
    else fail(key, "holds something else than numbers");
  }
  return out;
}
std::vector<std::string> HfConfig::texts(std::string_view key) const {
  std::vector<std::string> out;
  for (const Scalar& item : require(key).items) {
    const auto* s = std::get_if<std::string>(&item);
    if (!s) fail(key, "holds something else than strings");
    out.push_back(*s);
  }
  return out;
}

std::vector<std::string> HfConfig::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_)
    if (!value.looked_at) keys.push_back(key);
  return keys;
}

void HfConfig::ignore(std::string_view key) const {
  find(key);
  const std::string inside = std::string(key) + ".";
  for (auto at = values_.lower_bound(inside); at != values_.end() && at->first.starts_with(inside); ++at)
    at->second.looked_at = true;
}

}  // namespace ridge::io
