// Text to token ids and back, exactly as the Hugging Face tokenizers library does it for the same files.
//
// Texts: any bytes. What is not UTF-8 is read as U+FFFD, one for each maximal ill-formed part, as that library's
// callers do before they call it. What comes out is always well-formed UTF-8. Threads: a Tokenizer is immutable after
// construction; any number of threads may use it at once. Time is linear in the text (n log n in the length of one
// word) and nothing recurses on it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/detokenizer.h"
#include "text/tokenizer_spec.h"

namespace ridge::text {

enum class Wrap {
  none,            // the text's own tokens
  post_processed,  // and what the post-processor puts around them (a beginning-of-sequence token, mostly)
};

struct EncodeOptions {
  Wrap wrap = Wrap::none;
  // Whether control tokens spelled in the text become tokens. Added tokens that are not special (Qwen 3's <think>) are
  // part of the vocabulary and always found.
  Control control = Control::text;
};

class Tokenizer {
 public:
  // Copies what it keeps: what the spec's pieces and merges point at may go afterwards. Fails (input), naming
  // spec.source, on whatever does not hold together.
  explicit Tokenizer(const TokenizerSpec& spec);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // At most 1 GiB of text.
  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;

  // Ids without a piece stand for nothing (logits may be wider than the vocabulary).
  std::string decode(std::span<const TokenId> ids, SpecialTokens special = SpecialTokens::keep) const;

  std::size_t size() const;  // every id with a piece is below it; some below it may have none
  bool has(TokenId id) const;
  bool is_special(TokenId id) const;

  // What a token stands for: in byte-level vocabularies bytes, which may be part of a character; in others the piece as
  // spelled there ("▁the", "<0x0A>"). Empty for an id without a piece.
  std::string_view token_text(TokenId id) const;
  std::string token_spelling(TokenId id) const;  // as the vocabulary's file spells it ("Ġthe")

  // The id of a token by its text as the file spells it, added tokens first.
  std::optional<TokenId> find(std::string_view spelling) const;

  // Tokens with a role, as far as the file says.
  std::optional<TokenId> bos() const, eos() const, unknown() const, padding() const;
  std::span<const TokenId> end_ids() const;
  std::span<const TokenId> prefix() const, suffix() const;  // what Wrap::post_processed adds

  std::size_t memory_bytes() const;  // of the tables; what encoding keeps comes on top: about 1 MiB a thread

 private:
  friend class StreamDecoder;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Text of a token stream. Each `push` gives the text that is complete by then, never part of a character, and joining
// all of them and `finish` gives `decode` of the whole: also the space that a family drops at the start, and byte
// tokens, which are held until their run ends because only then the reference knows what they spell.
class StreamDecoder {
 public:
  // `tokenizer` outlives this. Position::middle keeps the leading space: the text continues another.
  explicit StreamDecoder(const Tokenizer& tokenizer, SpecialTokens special = SpecialTokens::keep,
                         Position position = Position::start);
  std::string push(TokenId id);
  std::string finish();  // and ready for another stream

 private:
  const Detokenizer* detokenizer_;
  SpecialTokens special_;
  Detokenizer::State state_;
};

}  // namespace ridge::text
