// Text to token ids and back, as a Hugging Face tokenizer.json says: byte-level BPE.
//
// encode, in four steps, each in a file of its own:
//
//   1. added tokens such as <|endoftext|> are cut out of the text            (added_tokens.h)
//   2. regular expressions cut the rest into words, " Mia" " has" " 4" "8"    (pre_tokenizer.h)
//   3. each word starts as its UTF-8 bytes, one piece per byte, and neighbours
//      are merged in the order that training found useful                    (bpe.h)
//   4. tokens that the file puts before every text (bos) are put there
//
// decode is a table look-up: every id stands for fixed bytes. One id may hold a part of a
// character, so the bytes of a single id need not be valid UTF-8.
//
// Other kinds of tokenizer (Unigram, WordPiece, byte fallback), normalizers and options that would
// change the ids are refused by name. (tokenizer_json.h)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

struct TokenizerParts;  // tokenizer_json.h

class Tokenizer {
  public:
    static Tokenizer load(const std::string& path);
    // `where` names the text in errors, usually its path.
    static Tokenizer parse(std::string_view json_text, const std::string& where);

    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    // Throws Error, with the byte offset, if the text is not valid UTF-8.
    std::vector<std::int32_t> encode(std::string_view utf8_text) const;

    // The exact bytes that an id stands for. Throws Error unless 0 <= id < vocab_size().
    const std::string& bytes_of(std::int32_t id) const;
    std::string decode(std::span<const std::int32_t> ids) const;

    std::int64_t vocab_size() const;  // ids are 0 .. vocab_size() - 1, added tokens included

  private:
    explicit Tokenizer(std::unique_ptr<TokenizerParts> parts);
    std::unique_ptr<TokenizerParts> parts_;
};

}  // namespace kvtape
