#include "viewer/plot_widget.h"

#include <imgui.h>
#include <algorithm>
#include <cmath>

#include "viewer/glossary.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// Enough for a clear picture, few enough for many curves in one draw list.
constexpr double column_pixels = 1.5, dot_distance = 16, dash_length = 6;

ImVec2 to_im(const Point& p) {
    return {static_cast<float>(p.x), static_cast<float>(p.y)};
}

// Between two lines that meet at a sharp angle ImGui's joint would be thin, so there a new line
// begins.
bool sharp(const ImVec2& a, const ImVec2& b, const ImVec2& c) {
    const ImVec2 in = {b.x - a.x, b.y - a.y}, out = {c.x - b.x, c.y - b.y};
    const float along = in.x * out.x + in.y * out.y;
    return along < 0.7f * std::hypot(in.x, in.y) * std::hypot(out.x, out.y);
}

void draw_line(const Polyline& line, Rgba colour, float thickness) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (line.size() == 1) return draw.AddCircleFilled(to_im(line[0]), thickness * 1.4f, colour, 8);
    std::vector<ImVec2> points;
    const auto stroke = [&] {
        draw.AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, thickness);
    };
    for (const Point& point : line) {
        const std::size_t n = points.size();
        if (n >= 2 && sharp(points[n - 2], points[n - 1], to_im(point))) {
            stroke();
            points = {points.back()};
        }
        points.push_back(to_im(point));
    }
    stroke();
}

// Not many lines in a high plot, and some in a low one. An axis without values has none.
std::vector<double> y_ticks(const Axis& y, float height, bool has_values) {
    if (!has_values) return {};
    return ticks(y, static_cast<double>(std::max(ImGui::GetFontSize(), height / 7)));
}

Axis placed(Axis axis, double from, double to) {
    axis.from = from;
    axis.to = to;
    return axis;
}

// Of a plot whose place begins at `top`.
Axis y_axis(const Plot::Frame& frame, const Extent& values, double top) {
    const double below = frame.step_ticks ? static_cast<double>(ImGui::GetFontSize()) * 1.25 : 1;
    const double height = std::max(static_cast<double>(frame.height) - below, 2.0);
    return placed(axis_around(values, frame.log), top + height, top + 1);
}

}  // namespace

Rgba lane_colour(const Viewer& viewer, std::size_t lane) {
    return viewer.palette().series[lane % std::size(viewer.palette().series)];
}

Plot::Plot(Viewer& viewer, const char* id, const Frame& frame, const Extent& values)
    : viewer_(viewer), frame_(frame), has_values_(values.high > 0), first_x_(frame.log ? 1 : 0) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(id, {std::max(frame.width, 1.0f), std::max(frame.height, 1.0f)});
    const double left = static_cast<double>(at.x + frame.left);
    const double right = std::max(static_cast<double>(at.x + frame.width - frame.right), left + 1);
    // Half a step of room on both sides, so that a single step stands in the middle.
    const auto steps = static_cast<double>(viewer.steps());
    Axis x{-0.5, steps - 0.5};
    if (frame.log) x = {0.9, steps * 1.05, true};
    x_ = placed(x, left, right);
    y_ = y_axis(frame, values, static_cast<double>(at.y));
    draw_ticks();
}

float Plot::tick_room(const Frame& frame, const Extent& values) {
    const Axis y = y_axis(frame, values, 0);
    float room = 0;
    for (const double value : y_ticks(y, frame.height, values.high > 0)) {
        room = std::max(room, ImGui::CalcTextSize(tick_text(value, frame.unit).c_str()).x);
    }
    return room + ImGui::GetFontSize() * 0.4f;
}

void Plot::draw_ticks() {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Palette& palette = viewer_.palette();
    const float em = ImGui::GetFontSize();
    const auto left = static_cast<float>(x_.from), right = static_cast<float>(x_.to);
    const auto bottom = static_cast<float>(y_.from), top = static_cast<float>(y_.to);
    const Rgba grid = mix(palette.panel, palette.line, 0.5);
    draw.AddRectFilled({left, top}, {right, bottom}, mix(palette.panel, palette.background, 0.6));
    for (const double value : y_ticks(y_, frame_.height, has_values_)) {
        const auto y = static_cast<float>(y_.pixel(value));
        draw.AddLine({left, y}, {right, y}, grid);
        const std::string text = tick_text(value, frame_.unit);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        // At the ends of the axis the text stays beside it.
        const float text_y = std::clamp(y - size.y / 2, top - em * 0.3f, bottom - size.y * 0.75f);
        draw.AddText({left - size.x - em * 0.3f, text_y}, palette.faint_text, text.c_str());
    }
    if (frame_.step_ticks) {
        const char* axis_name = !frame_.log              ? "step"
                                : right - left > em * 30 ? "n = steps done"
                                                         : "n";
        const float name_x = right - ImGui::CalcTextSize(axis_name).x;
        draw.AddText({name_x, bottom + em * 0.15f}, palette.faint_text, axis_name);
        for (const double value : ticks(x_, static_cast<double>(em) * 3, 1)) {
            const auto x = static_cast<float>(x_.pixel(value));
            const std::string text = tick_text(value);
            const float half = ImGui::CalcTextSize(text.c_str()).x / 2;
            draw.AddLine({x, bottom}, {x, bottom + em * 0.2f}, palette.line);
            if (x + half + em * 0.5f > name_x) continue;
            draw.AddText({x - half, bottom + em * 0.15f}, palette.faint_text, text.c_str());
        }
    }
    draw.AddLine({left, bottom}, {right, bottom}, palette.line);
}

void Plot::curve(std::span<const double> values, Rgba colour) {
    const auto scale = static_cast<double>(viewer_.scale);
    std::vector<Polyline> lines = kvtape::curve(values, first_x_, x_, y_, column_pixels * scale);
    const std::int64_t alike =
        1 + std::count_if(curves_.begin(), curves_.end(), [&](const auto& earlier) {
            return coincide(earlier, lines, 0.75 * scale);
        });
    // Lines of whole pixels take ImGui half as many vertices.
    const float thickness = std::round(1.8f * viewer_.scale);
    for (const Polyline& line : lines) {
        if (alike == 1 || line.size() < 2) {
            draw_line(line, colour, thickness);
            continue;
        }
        for (const Polyline& dash : dashes(line, dash_length * scale, alike)) {
            draw_line(dash, colour, thickness);
        }
    }
    curves_.push_back(std::move(lines));
}

void Plot::dots(std::span<const double> values, Rgba colour) {
    const double apart = dot_distance * static_cast<double>(viewer_.scale);
    const float half = 1.4f * viewer_.scale;
    double next = x_.from;
    for (std::int64_t step = 0; step < std::ssize(values); ++step) {
        const double value = values[static_cast<std::size_t>(step)];
        const double x = x_of(step);
        if (x < next || !y_.shows(value)) continue;
        const ImVec2 at = to_im({x, y_.pixel(value)});
        ImGui::GetWindowDrawList()->AddRectFilled({at.x - half, at.y - half},
                                                  {at.x + half, at.y + half}, colour);
        next = x + apart;
    }
}

void Plot::rings(std::span<const double> values, std::span<const std::int64_t> steps, Rgba colour) {
    const double apart = 4 * static_cast<double>(viewer_.scale);
    double next = x_.from;
    for (const std::int64_t step : steps) {
        const double value = values[static_cast<std::size_t>(step)];
        const double x = x_of(step);
        if (x < next || !y_.shows(value)) continue;
        ImGui::GetWindowDrawList()->AddCircle(to_im({x, y_.pixel(value)}), 4 * viewer_.scale,
                                              colour, 12, 2 * viewer_.scale);
        next = x + apart;
    }
}

ImVec2 Plot::caption_corner() const {
    const ImVec2 text = ImGui::CalcTextSize(frame_.caption);
    const double width = static_cast<double>(text.x), height = static_cast<double>(text.y);
    const double margin = static_cast<double>(ImGui::GetFontSize()) * 0.4;
    const double left = x_.from + margin, right = x_.to - margin - width;
    const double top = y_.to + 1, bottom = y_.from - 1 - height;
    const Point corners[] = {{left, top}, {right, bottom}, {right, top}, {left, bottom}};
    for (const Point& corner : corners) {
        const PixelBox box{corner.x, corner.y, corner.x + width, corner.y + height};
        const bool free = std::none_of(curves_.begin(), curves_.end(),
                                       [&](const auto& lines) { return crosses(lines, box); });
        if (free) return to_im(corner);
    }
    return to_im(corners[0]);
}

void Plot::playhead() {
    const Playhead& at = viewer_.playhead;
    const double done = std::max(static_cast<double>(at.step) - 1 + at.within, 0.0);
    const auto x = static_cast<float>(x_.pixel(done + first_x_));
    const auto right = static_cast<float>(x_.to);
    const auto bottom = static_cast<float>(y_.from), top = static_cast<float>(y_.to);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    constexpr Rgba see_through = 0x90ffffff;
    draw.AddRectFilled({x, top}, {right, bottom - 1}, viewer_.palette().panel & see_through);
    draw.AddLine({x, top}, {x, bottom}, viewer_.palette().text, 1.2f * viewer_.scale);
    const ImVec2 from = caption_corner(), size = ImGui::CalcTextSize(frame_.caption);
    draw.AddText(from, viewer_.palette().faint_text, frame_.caption);
    const char* const explained = explanation(frame_.caption);
    over_caption_ = explained != nullptr && ImGui::IsItemHovered() &&
                    ImGui::IsMouseHoveringRect(from, {from.x + size.x, from.y + size.y});
    if (over_caption_) hint(explained);
}

void Plot::end_labels(std::vector<EndLabel> labels) {
    std::erase_if(labels, [&](const EndLabel& label) { return !y_.shows(label.value); });
    // From the highest down: each at its curve, or pushed below the one before it.
    std::stable_sort(labels.begin(), labels.end(),
                     [](const EndLabel& a, const EndLabel& b) { return a.value > b.value; });
    const float em = ImGui::GetFontSize();
    const auto x = static_cast<float>(x_.to) + em * 0.3f;
    const auto top = static_cast<float>(y_.to);
    // Beside the ticks, too, but not above the plot, where other things stand. What has no room
    // there, from the lowest, is left out.
    const float last = static_cast<float>(y_.from) + em * (frame_.step_ticks ? 0.25f : -0.8f);
    const float room_for = std::max((last - top) / em, 0.0f) + 1;
    labels.resize(std::min(labels.size(), static_cast<std::size_t>(room_for)));
    std::vector<float> at;
    float free_from = top;
    for (const EndLabel& label : labels) {
        const float wanted = static_cast<float>(y_.pixel(label.value)) - em / 2;
        at.push_back(std::max(wanted, free_from));
        free_from = at.back() + em;
    }
    // What was pushed too far comes back up, with those above it.
    float room = last;
    for (std::size_t i = labels.size(); i-- > 0; room = at[i] - em) at[i] = std::min(at[i], room);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        ImGui::GetWindowDrawList()->AddText({x, at[i]}, labels[i].colour, labels[i].text.c_str());
    }
}

std::optional<std::int64_t> Plot::hovered() {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool held = ImGui::IsItemActive();
    if (!held && (over_caption_ || !ImGui::IsItemHovered())) return std::nullopt;
    const double x = std::clamp(static_cast<double>(mouse.x), x_.from, x_.to);
    if (!held && x != static_cast<double>(mouse.x)) return std::nullopt;  // beside the curves
    const auto nearest = static_cast<std::int64_t>(std::lround(x_.value(x) - first_x_));
    const std::int64_t step = std::clamp<std::int64_t>(nearest, 0, viewer_.steps() - 1);
    const auto at = static_cast<float>(x_of(step));
    ImGui::GetWindowDrawList()->AddLine({at, static_cast<float>(y_.to)},
                                        {at, static_cast<float>(y_.from)},
                                        viewer_.palette().faint_text);
    if (held) jump(viewer_.playhead, step, viewer_.steps());
    return step;
}

}  // namespace kvtape
