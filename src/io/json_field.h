// A place in a JSON document that knows its name, so that whatever is wrong there can be said: FILE:
// 'decoder.decoders[1].type': wanted a string.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::io {

class JsonField {
 public:
  // `root` and `file` outlive this and every field taken from it. A null `value` is a place where there is nothing.
  JsonField(const nlohmann::json* value, std::string path, std::string_view file)
      : value_(value), path_(std::move(path)), file_(file) {}

  bool is_there() const;  // and not JSON's null
  bool is_string() const;
  bool is_object() const;

  // A member; a missing one is a place with nothing. Fails (input) where this is not an object.
  JsonField operator[](std::string_view key) const;
  std::vector<JsonField> elements() const;                         // of an array
  std::vector<std::pair<std::string, JsonField>> members() const;  // of an object

  // The value; with `otherwise`, that where there is nothing. Fails (input) on another type.
  std::string text() const;
  std::string text(std::string_view otherwise) const;
  bool truth() const;
  bool truth(bool otherwise) const;
  double number(double otherwise) const;
  std::uint64_t count(std::uint64_t most) const;  // a whole number up to `most`

  const std::string& path() const { return path_; }
  [[noreturn]] void fail(std::string_view what) const;

 private:
  const nlohmann::json* value_;
  std::string path_;
  std::string_view file_;
};

}  // namespace ridge::io
