#include "reference_cpu/tokenizer.h"

#include <utility>

#include "core/check.h"
#include "reference_cpu/input_file.h"
#include "reference_cpu/tokenizer_json.h"
#include "reference_cpu/utf8.h"

namespace kvtape {
namespace {

constexpr std::int64_t largest_file_bytes = std::int64_t{1} << 28;
constexpr std::size_t longest_text_bytes = std::size_t{1} << 30;  // ICU counts in 32 bits

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<TokenizerParts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::string& path) {
    return parse(read_text_file(path, largest_file_bytes), path);
}

Tokenizer Tokenizer::parse(std::string_view json_text, const std::string& where) {
    return Tokenizer(std::make_unique<TokenizerParts>(parse_tokenizer_json(json_text, where)));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view utf8_text) const {
    if (utf8_text.size() > longest_text_bytes) {
        fail("tokenizer: the text is ", utf8_text.size(), " bytes long; at most ",
             longest_text_bytes, " are accepted");
    }
    if (const auto offset = first_invalid_utf8(utf8_text)) {
        fail("the text is not valid UTF-8 at byte ", *offset, "; only UTF-8 text has tokens");
    }
    std::vector<std::int32_t> ids = parts_->ids_before_text;
    for (const TextPart& part : parts_->vocabulary.added_tokens.cut(utf8_text)) {
        if (part.added_id >= 0) {
            ids.push_back(part.added_id);
            continue;
        }
        for (const std::string& word : parts_->pre_tokenizer.split(part.text)) {
            parts_->vocabulary.bpe.append_word(word, ids);
        }
    }
    return ids;
}

const std::string& Tokenizer::bytes_of(std::int32_t id) const {
    if (id < 0 || id >= vocab_size()) {
        fail("tokenizer: there is no token ", id, "; ids are 0 to ", vocab_size() - 1);
    }
    return parts_->vocabulary.bytes_of_id[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const std::int32_t id : ids) {
        text += bytes_of(id);
    }
    return text;
}

std::int64_t Tokenizer::vocab_size() const {
    return static_cast<std::int64_t>(parts_->vocabulary.bytes_of_id.size());
}

}  // namespace kvtape
