#include "viewer/form.h"

#include <imgui.h>

#include "viewer/widgets.h"

namespace kvtape {
namespace {

// Lets a std::string grow while it is edited.
int grow(ImGuiInputTextCallbackData* data) {
    auto& text = *static_cast<std::string*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        text.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = text.data();
    }
    return 0;
}

float width_of(const char* longest_label) {
    return ImGui::CalcTextSize(longest_label).x + ImGui::GetFontSize() * 0.6f;
}

// The label at `x` from the left edge of what is in the window, and its field behind it.
void put(const char* label, const char* meaning, float x, float label_width, float field_width) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    hint(meaning);
    ImGui::SameLine(ImGui::GetStyle().WindowPadding.x + x + label_width);
    ImGui::SetNextItemWidth(field_width);
}

}  // namespace

void edit_line(const char* id, std::string& text) {
    ImGui::InputText(id, text.data(), text.capacity() + 1, ImGuiInputTextFlags_CallbackResize, grow,
                     &text);
}

void edit_lines(const char* id, std::string& text, float height) {
    ImGui::InputTextMultiline(id, text.data(), text.capacity() + 1, {to_the_edge, height},
                              ImGuiInputTextFlags_CallbackResize, grow, &text);
}

FormLines::FormLines()
    : wide_label_(width_of("model")),
      left_label_(width_of("temperature")),
      right_label_(width_of("chunk")),
      half_((ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2) {}

void FormLines::wide(const char* label, const char* meaning, float share) const {
    const float room = ImGui::GetContentRegionAvail().x - wide_label_;
    put(label, meaning, 0, wide_label_, share < 1 ? share * room : to_the_edge);
}

void FormLines::left(const char* label, const char* meaning) const {
    put(label, meaning, 0, left_label_, half_ - left_label_);
}

void FormLines::right(const char* label, const char* meaning) const {
    const float x = half_ + ImGui::GetStyle().ItemSpacing.x;
    ImGui::SameLine(ImGui::GetStyle().WindowPadding.x + x);
    put(label, meaning, x, right_label_, to_the_edge);
}

}  // namespace kvtape
