#include "viewer/flow.h"

#include <imgui.h>
#include <algorithm>

#include "viewer/widgets.h"

namespace kvtape {

CompactControls::CompactControls(float scale) {
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(5 * scale, 1 * scale));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(6 * scale, 3 * scale));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemInnerSpacing, ImVec2(4 * scale, 4 * scale));
}

CompactControls::~CompactControls() {
    ImGui::PopStyleVar(3);
}

void Flow::next(float width) {
    if (!first_) {
        const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
        if (ImGui::GetItemRectMax().x + gap_ + width <= right) ImGui::SameLine(0, gap_);
    }
    first_ = false;
}

void Flow::text(const std::string& text, Rgba colour, const std::string& explained) {
    next(ImGui::CalcTextSize(text.c_str()).x);
    ImGui::AlignTextToFramePadding();  // so that lines with and without controls are alike
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    if (!explained.empty()) hint(explained.c_str());
}

void Flow::swatch(Rgba colour, const std::string& label, Rgba text_colour,
                  const std::string& explained) {
    const float line = ImGui::GetFrameHeight();
    const float side = ImGui::GetFontSize() * 0.62f;
    const float inner = ImGui::GetFontSize() * 0.3f;
    const ImVec2 text = ImGui::CalcTextSize(label.c_str());
    next(side + inner + text.x);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float top = at.y + (line - side) / 2 + 0.5f;
    draw.AddRectFilled({at.x, top}, {at.x + side, top + side}, colour, 2);
    draw.AddText({at.x + side + inner, at.y + ImGui::GetStyle().FramePadding.y}, text_colour,
                 label.c_str());
    ImGui::Dummy({side + inner + text.x, line});
    if (!explained.empty()) hint(explained.c_str());
}

std::size_t Flow::choice(const char* id, std::size_t chosen, std::span<const std::string> entries,
                         const char* explained) {
    float width = 0;
    for (const std::string& entry : entries) {
        width = std::max(width, ImGui::CalcTextSize(entry.c_str()).x);
    }
    width += ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x;
    next(width);
    ImGui::SetNextItemWidth(width);
    if (ImGui::BeginCombo(id, entries[chosen].c_str())) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (ImGui::Selectable(entries[i].c_str(), i == chosen)) chosen = i;
        }
        ImGui::EndCombo();
    }
    hint(explained);
    return chosen;
}

void Flow::check(const char* label, bool& on, const char* explained) {
    next(ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
         ImGui::CalcTextSize(label).x);
    ImGui::Checkbox(label, &on);
    hint(explained);
}

}  // namespace kvtape
