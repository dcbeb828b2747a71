#include "text/tokenizer.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace ridge::text {

namespace {

constexpr std::size_t max_text_bytes = std::size_t(1) << 30;

struct EncodeScratch {
  BpeScratch bpe;
  PreTokenizer::Scratch words;
  MatchScratch match;
  std::string normalized[2];
};

// Scratch memory that callers lend to each other, so that word caches stay warm and no thread waits for another's work.
class ScratchPool {
 public:
  std::unique_ptr<EncodeScratch> take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return std::make_unique<EncodeScratch>();
    auto one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  void give(std::unique_ptr<EncodeScratch> one) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeScratch>> free_;
};

void check_added(const TokenizerSpec& spec) {
  for (const AddedToken& t : spec.added) {
    if (t.content.empty()) fail_input("{}: added token {} is empty", spec.source, t.id);
    if (t.content.size() > max_added_token_bytes)
      fail_input("{}: added token {} has {} bytes; at most {} are accepted", spec.source, t.id, t.content.size(),
                 max_added_token_bytes);
    if (t.id >= max_pieces)
      fail_input("{}: added token '{}' has the id {}; ids below {} are accepted", spec.source, t.content, t.id,
                 max_pieces);
    if (!is_valid_utf8(t.content)) fail_input("{}: added token {} is not UTF-8", spec.source, t.id);
  }
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(const TokenizerSpec& spec);
  static std::vector<std::pair<TokenId, std::string>> normalize_added(const TokenizerSpec& spec,
                                                                      const Normalizer& normalizer);
  static AddedTokenMatcher matcher(const TokenizerSpec& spec, bool normalized,
                                   const std::vector<std::pair<TokenId, std::string>>& forms);
  void encode_fragment(std::string_view text, bool first, Control control, EncodeScratch& scratch,
                       std::vector<TokenId>& out) const;
  void encode(std::string_view text, Control control, EncodeScratch& scratch, std::vector<TokenId>& out) const;

  Vocabulary vocabulary;
  Bpe bpe;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::vector<std::pair<TokenId, std::string>> normalized_added;  // those whose normalized form differs
  AddedTokenMatcher raw_added, normal_added;
  Detokenizer detokenizer;
  std::vector<std::pair<std::string, TokenId>> added_ids;  // sorted
  std::vector<TokenId> prefix, suffix, end_ids;
  std::optional<TokenId> bos, eos, unknown, padding;
  ScratchPool pool;
};

Tokenizer::Parts::Parts(const TokenizerSpec& spec)
    : vocabulary((check_added(spec), spec)),
      bpe(spec, vocabulary),
      normalizer(spec),
      pre_tokenizer(spec),
      normalized_added(normalize_added(spec, normalizer)),
      raw_added(matcher(spec, false, normalized_added)),
      normal_added(matcher(spec, true, normalized_added)),
      detokenizer(spec, vocabulary, normalized_added),
      prefix(spec.prefix),
      suffix(spec.suffix),
      end_ids(spec.end_ids),
      bos(spec.bos),
      eos(spec.eos),
      unknown(spec.unknown),
      padding(spec.padding) {
  for (const AddedToken& t : spec.added) added_ids.emplace_back(t.content, t.id);
  std::sort(added_ids.begin(), added_ids.end());
  const auto check = [&](TokenId id, const char* what) {
    if (id >= vocabulary.size())
      fail_input("{}: the {} token is {}, but the vocabulary has {} pieces", spec.source, what, id, vocabulary.size());
  };
  for (TokenId id : prefix) check(id, "first");
  for (TokenId id : suffix) check(id, "last");
  for (TokenId id : end_ids) check(id, "end");
  if (bos) check(*bos, "bos");
  if (eos) check(*eos, "eos");
  if (unknown) check(*unknown, "unknown");
  if (padding) check(*padding, "padding");
}

std::vector<std::pair<TokenId, std::string>> Tokenizer::Parts::normalize_added(const TokenizerSpec& spec,
                                                                               const Normalizer& normalizer) {
  std::vector<std::pair<TokenId, std::string>> forms;
  MatchScratch match;
  std::string buffers[2];
  for (const AddedToken& t : spec.added) {
    if (!t.normalized || t.verbatim || normalizer.does_nothing()) continue;
    const std::string_view form = normalizer.run(t.content, buffers, match);
    if (form != t.content) forms.emplace_back(t.id, form);
  }
  std::sort(forms.begin(), forms.end());
  return forms;
}

AddedTokenMatcher Tokenizer::Parts::matcher(const TokenizerSpec& spec, bool normalized,
                                            const std::vector<std::pair<TokenId, std::string>>& forms) {
  std::vector<AddedTokenMatcher::Entry> entries;
  for (const AddedToken& t : spec.added) {
    if (t.normalized != normalized) continue;
    const auto form =
        std::lower_bound(forms.begin(), forms.end(), t.id, [](const auto& f, TokenId id) { return f.first < id; });
    const bool differs = form != forms.end() && form->first == t.id;
    const std::string& content = differs ? form->second : t.content;
    if (!content.empty()) entries.push_back({content, t.id, t.single_word, t.lstrip, t.rstrip, t.special});
  }
  return AddedTokenMatcher(std::move(entries));
}

void Tokenizer::Parts::encode(std::string_view text, Control control, EncodeScratch& scratch,
                              std::vector<TokenId>& out) const {
  const auto part = [&](std::string_view fragment, std::size_t begin, const AddedTokenMatcher::Entry* token) {
    if (token) out.push_back(token->id);
    else encode_fragment(fragment, begin == 0, control, scratch, out);
  };
  if (raw_added.empty()) part(text, 0, nullptr);
  else raw_added.split(text, control, part);
}

void Tokenizer::Parts::encode_fragment(std::string_view text, bool first, Control control, EncodeScratch& scratch,
                                       std::vector<TokenId>& out) const {
  const auto words = [&](std::string_view fragment, std::size_t begin, const AddedTokenMatcher::Entry* token) {
    if (token) return out.push_back(token->id);
    pre_tokenizer.run({fragment, first && begin == 0}, scratch.words,
                      [&](std::string_view word) { bpe.encode(word, scratch.bpe, out); });
  };
  const std::string_view normal = normalizer.run(text, scratch.normalized, scratch.match);
  if (normal_added.empty()) words(normal, 0, nullptr);
  else normal_added.split(normal, control, words);
}

Tokenizer::Tokenizer(const TokenizerSpec& spec) : parts_(std::make_unique<Parts>(spec)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > max_text_bytes)
    fail_input("a text of {} bytes; at most {} are accepted", text.size(), max_text_bytes);
  const bool post = options.wrap == Wrap::post_processed;
  std::vector<TokenId> out;
  if (post) out = parts_->prefix;
  auto scratch = parts_->pool.take();
  if (is_valid_utf8(text)) parts_->encode(text, options.control, *scratch, out);
  else parts_->encode(mended(text), options.control, *scratch, out);
  parts_->pool.give(std::move(scratch));
  if (post) out.insert(out.end(), parts_->suffix.begin(), parts_->suffix.end());
  return out;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  Detokenizer::State state;
  std::string out;
  parts_->detokenizer.start(state, Position::start);
  for (TokenId id : ids) parts_->detokenizer.push(state, id, special, out);
  parts_->detokenizer.finish(state, out);
  return out;
}

std::size_t Tokenizer::size() const { return parts_->vocabulary.size(); }
bool Tokenizer::has(TokenId id) const { return parts_->vocabulary.has(id); }
bool Tokenizer::is_special(TokenId id) const { return parts_->vocabulary.is_special(id); }
std::string_view Tokenizer::token_text(TokenId id) const { return parts_->vocabulary.text(id); }
std::string Tokenizer::token_spelling(TokenId id) const { return parts_->vocabulary.spelled(id); }

std::optional<TokenId> Tokenizer::find(std::string_view spelling) const {
  const auto& added = parts_->added_ids;
  const auto at = std::lower_bound(added.begin(), added.end(), spelling,
                                   [](const auto& a, std::string_view b) { return a.first < b; });
  if (at != added.end() && at->first == spelling) return at->second;
  const TokenId id = parts_->vocabulary.find_spelled(spelling);
  return id == no_token ? std::nullopt : std::optional(id);
}

std::optional<TokenId> Tokenizer::bos() const { return parts_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return parts_->eos; }
std::optional<TokenId> Tokenizer::unknown() const { return parts_->unknown; }
std::optional<TokenId> Tokenizer::padding() const { return parts_->padding; }
std::span<const TokenId> Tokenizer::end_ids() const { return parts_->end_ids; }
std::span<const TokenId> Tokenizer::prefix() const { return parts_->prefix; }
std::span<const TokenId> Tokenizer::suffix() const { return parts_->suffix; }
std::size_t Tokenizer::memory_bytes() const { return parts_->vocabulary.memory_bytes() + parts_->bpe.memory_bytes(); }

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, SpecialTokens special, Position position)
    : detokenizer_(&tokenizer.parts_->detokenizer), special_(special) {
  detokenizer_->start(state_, position);
}

std::string StreamDecoder::push(TokenId id) {
  std::string out;
  detokenizer_->push(state_, id, special_, out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  detokenizer_->finish(state_, out);
  return out;
}

}  // namespace ridge::text
