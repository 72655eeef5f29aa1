#include "viewer/values_widget.h"

#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <string>

#include "core/number_text.h"
#include "viewer/row_values.h"

namespace kvtape {
namespace {

// As long as "-12.345", or nearly.
std::string short_text(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return decimal(static_cast<double>(value), std::abs(value) < 100 ? 3 : 0);
}

// Black or white, whichever can be read on the colour.
Rgba text_on(Rgba colour) {
    const auto part = [colour](unsigned shift) {
        return static_cast<int>((colour >> shift) & 255);
    };
    const int brightness = (299 * part(0) + 587 * part(8) + 114 * part(16)) / 1000;
    return brightness > 140 ? rgb(0, 0, 0) : rgb(255, 255, 255);
}

}  // namespace

std::optional<std::int64_t> draw_values(const Rect& box, std::span<const float> values,
                                        const Palette& palette) {
    if (values.empty() || box.width < 1 || box.height < 1) return std::nullopt;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 widest = ImGui::CalcTextSize("-12.345 ");
    const auto count = static_cast<std::int64_t>(values.size());
    const ValueGrid grid =
        value_grid(count, static_cast<double>(box.width), static_cast<double>(box.height),
                   static_cast<double>(widest.x), static_cast<double>(widest.y));
    const float width = box.width / static_cast<float>(grid.columns);
    const float height = box.height / static_cast<float>(grid.rows);
    const float gap = std::min(width, height) > 4 ? 1.0f : 0.0f;
    const float largest = value_range(values).largest();
    draw.AddRectFilled({box.x, box.y}, {box.x + box.width, box.y + box.height}, palette.panel);
    std::optional<std::int64_t> under_mouse;
    for (std::int64_t i = 0; i < count; ++i) {
        const float value = values[static_cast<std::size_t>(i)];
        const ImVec2 at{box.x + width * static_cast<float>(i % grid.columns),
                        box.y + height * static_cast<float>(i / grid.columns)};
        const Rgba colour = value_colour(value, largest, palette);
        draw.AddRectFilled(at, {at.x + width - gap, at.y + height - gap}, colour);
        if (grid.texts) {
            const std::string text = short_text(value);
            const ImVec2 size = ImGui::CalcTextSize(text.c_str());
            draw.AddText({at.x + (width - gap - size.x) / 2, at.y + (height - gap - size.y) / 2},
                         text_on(colour), text.c_str());
        }
        if (ImGui::IsMouseHoveringRect(at, {at.x + width, at.y + height})) under_mouse = i;
    }
    return under_mouse;
}

}  // namespace kvtape
