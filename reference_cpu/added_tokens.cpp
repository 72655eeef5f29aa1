#include "reference_cpu/added_tokens.h"

#include <algorithm>
#include <utility>

namespace kvtape {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
    std::sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) {
        return a.content.size() > b.content.size();
    });
    for (AddedToken& token : tokens) {
        const auto first_byte = static_cast<unsigned char>(token.content.at(0));
        rounds_[token.second_round ? 1 : 0][first_byte].push_back(std::move(token));
    }
}

void AddedTokens::cut_round(const Round& round, std::string_view text,
                            std::vector<TextPart>& parts) {
    std::size_t ordinary_begin = 0;
    std::size_t offset = 0;
    while (offset < text.size()) {
        const auto& candidates = round[static_cast<unsigned char>(text[offset])];
        const auto found =
            std::find_if(candidates.begin(), candidates.end(), [&](const AddedToken& token) {
                return text.substr(offset).starts_with(token.content);
            });
        if (found == candidates.end()) {
            ++offset;
            continue;
        }
        if (ordinary_begin < offset) {
            parts.push_back({text.substr(ordinary_begin, offset - ordinary_begin)});
        }
        parts.push_back({text.substr(offset, found->content.size()), found->id});
        offset += found->content.size();
        ordinary_begin = offset;
    }
    if (ordinary_begin < text.size()) {
        parts.push_back({text.substr(ordinary_begin)});
    }
}

std::vector<TextPart> AddedTokens::cut(std::string_view text) const {
    std::vector<TextPart> first;
    cut_round(rounds_[0], text, first);
    std::vector<TextPart> both;
    for (const TextPart& part : first) {
        if (part.added_id >= 0) {
            both.push_back(part);
        } else {
            cut_round(rounds_[1], part.text, both);
        }
    }
    return both;
}

}  // namespace kvtape
