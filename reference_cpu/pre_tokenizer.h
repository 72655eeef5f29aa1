// Cuts text into words before BPE sees it, so that a piece never spans two words.
//
// The cutting is described by regular expressions. The Hugging Face library runs them with
// Oniguruma; kvtape uses ICU, which knows the same syntax for what tokenizers use. The flags make
// `.`, `^` and `$` mean what they mean there: only "\n" ends a line, and lines are anchors. The two
// libraries may know different versions of Unicode; then they disagree about characters that only
// one of them knows to be letters or digits.
//
// Includes ICU's headers; tokenizer.h does not.
#pragma once

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

class PreTokenizer {
  public:
    // Adds a step: every match becomes a word of its own, and so does the text between two matches.
    // (In a tokenizer.json: Split with behavior "Isolated".) Throws Error with `where` if the
    // pattern is not a regular expression.
    void add_regex(std::string_view pattern, const std::string& where);
    // The same with a fixed string.
    void add_string(std::string_view text, const std::string& where);
    // Adds a step: a word that does not start with a space gets one.
    void add_prefix_space();

    // The words, in UTF-8; without prefix spaces they concatenate to the text. `text` must be valid
    // UTF-8 and shorter than 2^30 bytes. Throws Error if a match takes out of all proportion long.
    std::vector<std::string> split(std::string_view text) const;

  private:
    void add_pattern(std::string_view pattern, std::uint32_t flags, const std::string& where);

    std::vector<std::unique_ptr<icu::RegexPattern>> steps_;  // nullptr: the prefix space
};

}  // namespace kvtape
