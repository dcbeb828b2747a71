#include "io/tokenizer_json_parse.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {

namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_values = 4'000'000;  // outside of vocabulary and merges

class Handler : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(text::TokenizerSpec& spec) : spec_(spec) {}
  Json take() { return std::move(root_); }
  FoundParts found() const { return found_; }

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return value(v); }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool binary(binary_t&) override { return false; }

  bool number_unsigned(number_unsigned_t v) override {
    if (part_ != Part::vocab || skipping_) return value(v);
    return piece(v);
  }
  bool string(string_t& v) override {
    if (part_ != Part::merges || skipping_) return value(std::move(v));
    return merge_string(v);
  }
  bool key(string_t& k) override {
    if (skipping_) return true;
    if (part_ == Part::vocab) key_ = spec_.storage.add(k);
    else keys_.back() = k;
    return true;
  }

  bool start_object(std::size_t) override {
    if (at("vocab")) return enter(Part::vocab, true);
    return open(Json::object());
  }
  bool start_array(std::size_t) override {
    if (at("merges")) return enter(Part::merges, true);
    if (at("vocab")) return enter(Part::vocab, false);  // pieces with scores: another kind of model
    if (part_ == Part::merges && depth_ == part_depth_ && !skipping_) {
      ++depth_;
      halves_ = 0;
      return true;
    }
    return open(Json::array());
  }
  bool end_object() override { return close(); }
  bool end_array() override {
    if (part_ == Part::merges && depth_ == part_depth_ + 1 && halves_ != 2) fail_merge("has not two pieces");
    return close();
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& e) override {
    std::string why = e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const auto end = why.find(": "); end != std::string::npos) why.erase(0, end + 2);
    fail_input("{}: at byte {}: is not JSON: {}", spec_.source, byte, quote(why));
  }

 private:
  enum class Part { rest, vocab, merges };

  bool at(std::string_view name) const {
    return part_ == Part::rest && open_.size() == 2 && keys_[0] == "model" && keys_[1] == name && open_[1]->is_object();
  }
  bool enter(Part part, bool read) {
    if (read) (part == Part::vocab ? found_.vocab : found_.merges) = true;
    part_ = part;
    part_depth_ = ++depth_;
    skipping_ = !read;
    return true;
  }
  bool close() {
    if (part_ == Part::rest) {
      open_.pop_back();
      keys_.pop_back();
    } else if (depth_ == part_depth_) {
      part_ = Part::rest;
      skipping_ = false;
    }
    --depth_;
    return true;
  }
  bool open(Json container) {
    if (depth_ == max_depth) fail_input("{}: nested deeper than {}", spec_.source, max_depth);
    if (part_ != Part::rest) {
      if (!skipping_) fail_part();
      ++depth_;
      return true;
    }
    Json* added = add(std::move(container));
    open_.push_back(added);
    keys_.emplace_back();
    ++depth_;
    return true;
  }
  bool value(Json v) {
    if (skipping_) return true;
    if (part_ != Part::rest) fail_part();
    add(std::move(v));
    return true;
  }
  // Containers do not move while they are open: nothing is added beside them until they are closed.
  Json* add(Json v) {
    if (++values_ > max_values)
      fail_input("{}: more than {} values outside of vocabulary and merges", spec_.source, max_values);
    if (open_.empty()) {
      root_ = std::move(v);
      return &root_;
    }
    Json& into = *open_.back();
    if (into.is_array()) return &into.emplace_back(std::move(v));
    Json& member = into[keys_.back()];
    member = std::move(v);
    return &member;
  }

  bool piece(std::uint64_t id) {
    if (id >= text::max_pieces)
      fail_input("{}: 'model.vocab': {} has the id {}; ids below {} are accepted", spec_.source, quote(key_), id,
                 text::max_pieces);
    if (id >= spec_.pieces.size()) spec_.pieces.resize(id + 1);
    std::string_view& slot = spec_.pieces[id];
    if (slot.data())
      fail_input("{}: 'model.vocab': {} and {} both have the id {}", spec_.source, quote(slot), quote(key_), id);
    slot = key_;
    return true;
  }

  bool merge_string(const std::string& text) {
    if (depth_ > part_depth_) return merge_half(text);
    if (text.starts_with("#version")) return true;  // a line of old merges.txt files, which the reference skips too
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      fail_merge("is " + quote(text) + "; accepted are two pieces with one space between, or an array of two pieces");
    return add_merge(spec_.storage.add(text), space);
  }
  // Both halves of a pair, side by side in the arena as a string would have them.
  bool merge_half(const std::string& text) {
    if (++halves_ > 2) fail_merge("has more than two pieces");
    if (halves_ == 1) {
      left_ = text;
      return true;
    }
    const std::size_t left_size = left_.size();
    left_ += ' ';
    left_ += text;
    return add_merge(spec_.storage.add(left_), left_size);
  }
  bool add_merge(std::string_view joined, std::size_t left_size) {
    if (spec_.merges.size() == text::max_merges) fail_input("{}: more than {} merges", spec_.source, text::max_merges);
    spec_.merges.push_back({joined, static_cast<std::uint32_t>(left_size)});
    return true;
  }

  [[noreturn]] void fail_merge(const std::string& what) const {
    fail_input("{}: 'model.merges[{}]' {}", spec_.source, spec_.merges.size(), what);
  }
  [[noreturn]] void fail_part() const {
    if (part_ == Part::merges) fail_merge("is not a string or an array of two");
    fail_input("{}: 'model.vocab': the id of {} is not a whole number, or negative", spec_.source, quote(key_));
  }

  text::TokenizerSpec& spec_;
  Json root_;
  std::vector<Json*> open_;        // containers of the rest
  std::vector<std::string> keys_;  // the last key in each
  std::size_t depth_ = 0, part_depth_ = 0, values_ = 0;
  Part part_ = Part::rest;
  bool skipping_ = false;
  FoundParts found_;
  std::string_view key_;  // in vocab
  std::string left_;      // in merges
  int halves_ = 0;
};

}  // namespace

FoundParts parse_tokenizer_json(std::string_view json, text::TokenizerSpec& spec, Json& rest) {
  Handler handler(spec);
  Json::sax_parse(json.begin(), json.end(), &handler);
  rest = handler.take();
  return handler.found();
}

}  // namespace ridge::io
