// Tokens that are found in the text as they are, before anything else happens to it: special ones
// such as <|endoftext|>, and whole words that somebody added to a finished vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool second_round = false;  // looked for only where no token of the first round was found
};

// A part of the text: an added token, or text that still has to be cut into words.
struct TextPart {
    std::string_view text;
    std::int32_t added_id = -1;  // -1: ordinary text
};

class AddedTokens {
  public:
    AddedTokens() = default;
    explicit AddedTokens(std::vector<AddedToken> tokens);  // no content is empty

    // The parts of the text, none of them empty. Where several tokens match, the leftmost counts,
    // and of those that start there the longest.
    std::vector<TextPart> cut(std::string_view text) const;

  private:
    using Round = std::vector<std::vector<AddedToken>>;  // by first byte; longest first
    static void cut_round(const Round& round, std::string_view text, std::vector<TextPart>& parts);

    Round rounds_[2] = {Round(256), Round(256)};
};

}  // namespace kvtape
