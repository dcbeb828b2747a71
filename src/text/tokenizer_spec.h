// What a tokenizer is, in plain structs. io/ fills them from tokenizer.json, GGUF metadata or a SentencePiece file;
// Tokenizer is built from them. The words are those of the Hugging Face tokenizers library, whose ids are the
// reference.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text {

using TokenId = std::uint32_t;

// Limits of what is accepted; the largest vocabulary in the field has 262,145 pieces and 514,906 merges.
inline constexpr std::size_t max_pieces = std::size_t(1) << 21;
inline constexpr std::size_t max_merges = (std::size_t(1) << 22) - 2;
inline constexpr std::size_t max_piece_bytes = 4096;
inline constexpr std::size_t max_added_token_bytes = 1024;
inline constexpr std::size_t max_steps = 64;  // normalizers, pre-tokenizers, decoders

// Strings that stay where they are while more are added.
class TextArena {
 public:
  std::string_view add(std::string_view text);
  char* allocate(std::size_t size);

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

enum class Merging {
  ranks,   // by the order of a list of merges
  scores,  // SentencePiece: two neighbours merge when their text is a piece, best score first
};
enum class Spelling {
  text,   // pieces are text; what no piece spells falls back to byte pieces <0xNN> or to the unknown token
  bytes,  // byte-level: pieces are bytes, spelled in byte_alphabet.h
};
enum class PieceType : std::uint8_t { normal, unknown, control, user_defined, unused, byte };

struct Merge {
  std::string_view joined;      // left, one separating byte, right
  std::uint32_t left_size = 0;  // bytes of left
  std::string_view left() const { return joined.substr(0, left_size); }
  std::string_view right() const { return joined.substr(left_size + 1); }
};

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool single_word = false;  // not inside a longer word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = false;   // looked for in the normalized text, in its own normalized form
  bool verbatim = false;     // … as it is, not normalized (SentencePiece's user-defined pieces)
  bool special = false;      // a control token
};

struct NormalizerStep {
  enum class Kind {
    nfc,
    nfd,
    nfkc,
    nfkd,
    lowercase,
    strip_accents,
    nmt,
    strip,
    prepend,
    replace_text,
    replace_regex,
    charsmap,         // SentencePiece's table of replacements, `content`
    collapse_spaces,  // no ' ' at the start, one in a row
    drop_at_end,      // `pattern`, as often as it is there
  };
  Kind kind = Kind::nfc;
  std::string pattern;               // replace, drop_at_end
  std::string content;               // replace, prepend, charsmap
  bool left = false, right = false;  // strip
};

struct PreTokenizerStep {
  enum class Kind {
    split_text,    // at every occurrence of `pattern`
    split_regex,   // at every match of `pattern` (Oniguruma's syntax)
    metaspace,     // ' ' becomes `pattern`, which is also prepended (`prepend`) where it is not first
    prefix_space,  // ' ' is prepended where it is not first
    spell_bytes,   // to the byte alphabet; only where further steps split the spelled form
    fixed_length,  // every `length` characters
  };
  enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
  enum class Prepend { never, first, always };
  Kind kind = Kind::split_regex;
  std::string pattern;
  Behavior behavior = Behavior::isolated;
  bool invert = false;
  Prepend prepend = Prepend::never;
  std::size_t length = 0;
};

struct DecoderStep {
  enum class Kind { byte_level, replace_text, replace_regex, byte_fallback, fuse, strip, metaspace, word_suffix };
  Kind kind = Kind::byte_level;
  std::string pattern;  // replace; metaspace: the stand-in for a space; word_suffix: the suffix; strip: one character
  std::string content;  // replace
  std::size_t start = 0, stop = 0;  // strip: at most so many characters
  bool drop_first = false;          // metaspace: those of the first token are dropped
};

struct TokenizerSpec {
  Merging merging = Merging::ranks;
  Spelling spelling = Spelling::text;
  std::vector<std::string_view> pieces;  // by id; data() == nullptr: no piece has this id
  std::vector<float> scores;             // by id; only for Merging::scores
  std::vector<PieceType> types;          // by id; empty: all normal
  std::vector<Merge> merges;             // by rank; only for Merging::ranks
  bool ignore_merges = false;            // a word that is a piece is that piece, whatever the merges say
  bool byte_fallback = false;
  bool fuse_unknown = false;                   // neighbouring unknown characters become one token
  std::string unknown_piece;                   // its spelling; empty: unknown characters are dropped
  std::string continuing_prefix, word_suffix;  // of symbols that do not start a word, that end one; mostly empty

  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::vector<DecoderStep> decoder;     // empty: tokens are joined with spaces
  std::vector<TokenId> prefix, suffix;  // what the post-processor puts around a text

  std::optional<TokenId> bos, eos, unknown, padding;
  std::vector<TokenId> end_ids;  // tokens that end a generation, as far as the tokenizer's file says; eos is one

  std::string source;  // the file, for messages
  TextArena storage;   // what `pieces` and `merges` point into, where it is not a file that stays mapped until the
                       // tokenizer is built (which copies what it keeps)
};

}  // namespace ridge::text
