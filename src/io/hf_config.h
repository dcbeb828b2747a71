// A config.json (or generation_config.json) as typed values by key. What the keys mean is model/'s business; this knows
// only their types, and remembers which were asked for, so that keys that nobody understood can be refused.
//
// A key inside an object is written with dots: "rope_parameters.rope_theta",
// "rope_parameters.full_attention.rope_type". A key whose value is null is as good as absent.
#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ridge::io {

class HfConfig {
 public:
  // Fails (input) on what is not one JSON object, is larger than 16 MB, nests more than 16 deep or has a key twice.
  static HfConfig parse(std::string_view json, std::string_view file);
  static HfConfig read(const std::filesystem::path& path);

  const std::string& file() const { return file_; }

  // Whether a key has a value (asking counts as looking at it), or an object has keys.
  bool has(std::string_view key) const;
  // The first of several names (a newer and an older one) that is there; empty when none is.
  std::string_view first_of(std::initializer_list<std::string_view> names) const;
  // The names inside an object, one level deep, in order; "" is the outermost.
  std::vector<std::string> names_in(std::string_view object) const;

  // A missing key, or a value of another type, is an error (input) that names file, key and what is accepted; with
  // `otherwise`, a missing key is that. A number may be written as an integer; an integer must be.
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key) const;
  double number(std::string_view key, double otherwise) const;
  bool truth(std::string_view key) const;
  bool truth(std::string_view key, bool otherwise) const;
  const std::string& text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view otherwise) const;

  // Lists. A lone value is a list of one (eos_token_id is given either way).
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;

  // Keys with a value that nobody has looked at, dotted, in order.
  std::vector<std::string> unread() const;
  // Says that a key, or an object with all in it, is known and does not matter.
  void ignore(std::string_view key) const;

  [[noreturn]] void fail(std::string_view key, std::string_view message) const;  // FILE: key 'K' message

  struct Other {  // a list of lists, or of objects
    bool operator==(const Other&) const = default;
  };
  using Scalar = std::variant<bool, std::int64_t, double, std::string, Other>;
  struct Value {
    std::vector<Scalar> items;
    bool is_list = false;
    mutable bool looked_at = false;
  };

 private:
  const Value* find(std::string_view key) const;
  const Value& require(std::string_view key) const;
  const Scalar& lone(std::string_view key, std::string_view wanted) const;

  std::string file_;
  std::map<std::string, Value, std::less<>> values_;  // by dotted key
};

}  // namespace ridge::io
