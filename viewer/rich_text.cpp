#include "viewer/rich_text.h"

#include <imgui.h>

#include "viewer/glossary.h"

namespace kvtape {
namespace {

constexpr float line_height = 1.25f;   // in font sizes
constexpr float paragraph_gap = 0.4f;  // of a line

void explain(const std::string& term) {
    const char* explained = explanation(term);
    if (explained == nullptr) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(explained);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

}  // namespace

std::vector<Word> split_words(std::string_view text) {
    std::vector<Word> words;
    Word word;
    std::string term;
    bool spaced = true, paragraph = true;
    const auto finish = [&] {
        if (word.text.empty()) return;
        word.term = term;
        word.joined = !spaced;
        word.begins_paragraph = paragraph;
        words.push_back(word);
        word = {};
        spaced = paragraph = false;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '[') {
            finish();
            term = text.substr(i + 1, text.find(']', i) - i - 1);
        } else if (c == ']') {
            finish();
            term.clear();
        } else if (c == ' ' || c == '\n') {
            finish();
            spaced = true;
            paragraph = paragraph || c == '\n';
        } else {
            word.text += c;
        }
    }
    finish();
    return words;
}

void rich_text(std::string_view text) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float em = ImGui::GetFontSize();
    const float space = ImGui::CalcTextSize(" ").x;
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    const ImU32 underline = ImGui::GetColorU32(ImGuiCol_CheckMark);
    const std::vector<Word> words = split_words(text);
    ImVec2 at = {0, 0};
    std::string last_term;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        const float wide = ImGui::CalcTextSize(word.text.c_str()).x;
        // What is joined to a word must not begin a line: it needs room together with it.
        float needed = wide;
        for (std::size_t next = i + 1; next < words.size() && words[next].joined; ++next) {
            needed += ImGui::CalcTextSize(words[next].text.c_str()).x;
        }
        const float gap = word.joined || at.x == 0 ? 0 : space;
        if (word.begins_paragraph && i > 0) {
            at = {0, at.y + em * line_height * (1 + paragraph_gap)};
        } else if (!word.joined && at.x > 0 && at.x + gap + needed > width) {
            at = {0, at.y + em * line_height};
        } else {
            // The line under a term of two words is not broken between them.
            if (gap > 0 && !word.term.empty() && word.term == last_term) {
                const float y = origin.y + at.y + em * 1.1f;
                draw.AddLine({origin.x + at.x, y}, {origin.x + at.x + gap, y}, underline);
            }
            at.x += gap;
        }
        const ImVec2 from = {origin.x + at.x, origin.y + at.y};
        draw.AddText(from, ink, word.text.c_str());
        if (!word.term.empty()) {
            const ImVec2 to = {from.x + wide, from.y + em * line_height};
            draw.AddLine({from.x, from.y + em * 1.1f}, {to.x, from.y + em * 1.1f}, underline);
            if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to)) {
                explain(word.term);
            }
        }
        at.x += wide;
        last_term = word.term;
    }
    ImGui::Dummy({width, words.empty() ? 0 : at.y + em * line_height});
}

}  // namespace kvtape
