// Running text with words of the glossary in it: "the [KV cache] holds ..." draws those in brackets
// underlined, and explains them when they are hovered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

// What must not be broken across lines, and the term it belongs to ("" = none). Words of one term
// may stand on two lines.
struct Word {
    std::string text;
    std::string term;
    bool begins_paragraph = false;
    bool joined = false;  // no space before it, as a comma after a term
};
std::vector<Word> split_words(std::string_view text);

// Draws the text over the width that is left in the window.
void rich_text(std::string_view text);

}  // namespace kvtape
