#include "io/json_bounded.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "io/mapped_file.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

using Json = nlohmann::ordered_json;

// Walks the text and leaves word of how far it got: nlohmann tells a handler no offsets.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *reached = ++at;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& o) const { return at == o.at; }
  bool operator!=(const Cursor& o) const { return at != o.at; }
};

// Builds the tree. A vector of open containers stands in for recursion; containers do not move while they are open,
// since nothing is added beside them until they are closed.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string_view file, const JsonLimits& limits)
      : text_(text), file_(file), limits_(limits), reached_(text.data()) {}

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool v) override { return add(Json(v)); }
  bool number_integer(number_integer_t v) override { return add(Json(v)); }
  bool number_unsigned(number_unsigned_t v) override { return add(Json(v)); }
  bool number_float(number_float_t v, const string_t&) override { return add(Json(v)); }
  bool string(string_t& v) override { return add(Json(std::move(v))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& k) override {
    members(*open_.back()).emplace_back(std::move(k), Json());
    count();
    return true;
  }
  bool end_object() override {
    settle_duplicates(members(*open_.back()));
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    std::string why = e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const auto end = why.find("] "); end != std::string::npos) why.erase(0, end + 2);
    fail("is not JSON: " + shortened(why));
  }

  Json take() { return std::move(root_); }
  Cursor cursor(std::size_t offset) { return {text_.data() + offset, &reached_}; }
  [[noreturn]] void fail(const std::string& message) const {
    fail_input("{}: at byte {}: {}", file_, reached_ - text_.data(), message);
  }

 private:
  using Members = std::vector<std::pair<const std::string, Json>>;

  // The vector that an ordered object is: adding to it directly skips the search for an equal key.
  static Members& members(Json& object) { return object.get_ref<Json::object_t&>(); }

  static std::string shortened(const std::string& why) {  // it quotes the text, which may be megabytes
    return why.size() <= 300 ? why : why.substr(0, 200) + " ... " + why.substr(why.size() - 90);
  }

  void count() {
    if (++values_ > limits_.values) fail(fmt::format("has more than {} values", limits_.values));
  }
  Json* place(Json value) {
    count();
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_object()) return &(members(parent).back().second = std::move(value));
    auto& elements = parent.get_ref<Json::array_t&>();
    return &elements.emplace_back(std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() == std::size_t(limits_.depth)) fail(fmt::format("is nested more than {} deep", limits_.depth));
    open_.push_back(place(std::move(container)));
    return true;
  }

  // Finds equal keys by sorting: no text makes that slow, as one of colliding keys would a hash table.
  void settle_duplicates(Members& list) {
    struct Entry {
      std::size_t hash;
      std::uint32_t index;
    };
    std::vector<Entry> order(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      order[i] = {std::hash<std::string>{}(list[i].first), std::uint32_t(i)};
    std::sort(order.begin(), order.end(), [&](const Entry& a, const Entry& b) {
      if (a.hash != b.hash) return a.hash < b.hash;
      const int c = list[a.index].first.compare(list[b.index].first);
      return c != 0 ? c < 0 : a.index < b.index;
    });
    std::vector<bool> replaced(list.size());
    bool any = false;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Entry &before = order[i - 1], &after = order[i];
      if (before.hash != after.hash || list[before.index].first != list[after.index].first) continue;
      if (limits_.duplicates == DuplicateKeys::refuse)
        fail(fmt::format("the object that ends here has the key {} twice", quote(list[after.index].first)));
      replaced[before.index] = any = true;
    }
    if (any) drop(list, replaced);
  }

  static void drop(Members& list, const std::vector<bool>& dropped) {
    Members kept;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!dropped[i]) kept.emplace_back(list[i].first, std::move(list[i].second));
    list.swap(kept);
  }

  std::string_view text_, file_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  Json root_;
  std::vector<Json*> open_;
  const char* reached_;
};

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, std::string_view file, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    fail_input("{}: has {} bytes of JSON; {} is the most", file, text.size(), limits.bytes);
  Builder builder(text, file, limits);
  if (!Json::sax_parse(builder.cursor(0), builder.cursor(text.size()), &builder)) builder.fail("is not JSON");
  return builder.take();
}

nlohmann::ordered_json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  const MappedFile file(path);
  return parse_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, file.name(), limits);
}

}  // namespace ridge::io
