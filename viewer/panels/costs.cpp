// What each decoder spends, over the steps: as the kernels counted it (curves) and as it must be by
// the closed forms (dots). Summed up, the curves have a slope in log-log, printed where they end.
#include <imgui.h>
#include <algorithm>
#include <array>

#include "viewer/cost_curves.h"
#include "viewer/flow.h"
#include "viewer/panel.h"
#include "viewer/plot_widget.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

constexpr const char* about_fit =
    "How the sum grows with n = steps done: the slope of the line of least squares through the "
    "logarithms of both, at all decode steps of the tape. A long prompt, done in the first step, "
    "makes it small.";

std::string fit_text(const CostCurve& curve) {
    return curve.fit ? "n^" + decimal(curve.fit->exponent, 2) : "-";
}

// Whether the counts of the steps up to the playhead are what they must be.
bool right_so_far(const Viewer& viewer, std::size_t lane) {
    const std::vector<std::int64_t>& wrong = viewer.costs.curves()[lane].wrong;
    return wrong.empty() || wrong.front() > viewer.step_of(*viewer.show.lanes()[lane]);
}

void draw_controls(CostsView& view, Flow& flow) {
    std::vector<std::string> quantities;
    for (const Quantity quantity : all_quantities) quantities.push_back(name(quantity));
    view.quantity =
        all_quantities[flow.choice("##quantity", static_cast<std::size_t>(view.quantity),
                                   quantities, explanation(view.quantity))];
    const std::array<std::string, 2> sums = {"so far", "per step"};
    view.so_far = flow.choice("##sum", view.so_far ? 0 : 1, sums,
                              "Summed over the steps so far, or each step by itself.") == 0;
    flow.check("log", view.log, "Both axes logarithmic: what grows like n^b is a line of slope b.");
}

// The lanes, and those that do not cost what they must.
void draw_legend(Viewer& viewer, Flow& flow) {
    const Palette& palette = viewer.palette();
    const CostsView& view = viewer.costs;
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const LaneHistory& lane = *viewer.show.lanes()[i];
        std::string explained = "No steps.";
        if (lane.steps() > 0) {
            const std::int64_t step = viewer.step_of(lane);
            const Costs& costs = view.so_far ? lane.costs_so_far(step) : lane.costs(step);
            explained =
                std::string(name(view.quantity)) + (view.so_far ? " so far: " : ": ") +
                exact_text(measured(costs, view.quantity), view.quantity) +
                (right_so_far(viewer, i)
                     ? ", as the closed form has it."
                     : "; the closed form says " +
                           exact_text(closed_form(costs, view.quantity), view.quantity) + ".");
        }
        flow.swatch(lane_colour(viewer, i), lane_title(viewer, i), palette.text, explained);
    }
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const std::vector<std::int64_t>& wrong = view.curves()[i].wrong;
        if (wrong.empty()) continue;
        flow.text(lane_title(viewer, i) + ": " + with_commas(std::ssize(wrong)) +
                      (wrong.size() == 1 ? " step" : " steps") + " off the closed form",
                  palette.warning,
                  "The first is step " + with_commas(wrong.front()) +
                      ". Rings mark the steps; dots are what the formulas say.");
    }
}

void draw_hover(const Viewer& viewer, std::int64_t step) {
    const CostsView& view = viewer.costs;
    ImGui::BeginTooltip();
    ImGui::Text("step %s%s", with_commas(step).c_str(), view.so_far ? ", so far" : "");
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const LaneHistory& lane = *viewer.show.lanes()[i];
        if (step >= lane.steps()) continue;
        const Costs& costs = view.so_far ? lane.costs_so_far(step) : lane.costs(step);
        const std::string counted = exact_text(measured(costs, view.quantity), view.quantity);
        const std::string expected = exact_text(closed_form(costs, view.quantity), view.quantity);
        Flow flow(0);
        flow.swatch(
            lane_colour(viewer, i),
            lane_title(viewer, i) + ": " + counted +
                (counted == expected ? " = closed form" : " \xe2\x89\xa0 closed form " + expected) +
                (view.so_far ? ", grows like " + fit_text(view.curves()[i]) : ""),
            viewer.palette().text);
    }
    ImGui::TextDisabled("Curves are counts, dots are the closed form.");
    ImGui::EndTooltip();
}

void draw_plot(Viewer& viewer, float height) {
    const CostsView& view = viewer.costs;
    Extent extent;
    for (const CostCurve& curve : view.curves()) {
        extent.add(curve.measured);
        extent.add(curve.closed_form);
    }
    Plot::Frame frame{ImGui::GetContentRegionAvail().x, height};
    frame.log = view.log;
    frame.unit = view.quantity == Quantity::bytes ? "B" : "";
    frame.left = Plot::tick_room(frame, extent);
    const bool all_right = std::all_of(view.curves().begin(), view.curves().end(),
                                       [](const CostCurve& c) { return c.wrong.empty(); });
    if (all_right) frame.caption = "measured = closed form";
    if (view.so_far) frame.right = ImGui::CalcTextSize("n^0.00").x + ImGui::GetFontSize() * 0.5f;
    Plot plot(viewer, "costs", frame, extent);
    if (ImGui::IsItemHovered() && view.so_far &&
        ImGui::GetIO().MousePos.x > ImGui::GetItemRectMax().x - frame.right) {
        hint(about_fit);
    }
    std::vector<Plot::EndLabel> labels;
    for (std::size_t i = 0; i < view.curves().size(); ++i) {
        const CostCurve& curve = view.curves()[i];
        plot.curve(curve.measured, lane_colour(viewer, i));
        if (curve.fit && view.so_far) {
            labels.push_back({curve.measured.back(), lane_colour(viewer, i), fit_text(curve)});
        }
    }
    for (const CostCurve& curve : view.curves()) {
        plot.dots(curve.closed_form, viewer.palette().text);
        plot.rings(curve.measured, curve.wrong, viewer.palette().warning);
    }
    plot.playhead();
    plot.end_labels(std::move(labels));
    if (const auto step = plot.hovered()) draw_hover(viewer, *step);
}

// All digits, where there is room for them.
void draw_table(const Viewer& viewer, float height) {
    const CostsView& view = viewer.costs;
    constexpr ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_RowBg |
                                      ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchProp;
    if (!ImGui::BeginTable("costs table", 5, flags, {0, height})) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    const std::array<std::array<const char*, 2>, 5> titles = {{
        {name(view.quantity), explanation(view.quantity)},
        {"this step", "What the kernels counted in the step on show."},
        {"so far", "The sum over all steps up to the one on show."},
        {"so far, closed form", "The same sum by the formulas, from the shapes alone."},
        {"sum grows like", about_fit},
    }};
    for (const auto& [title, explained] : titles) {
        ImGui::TableNextColumn();
        ImGui::TableHeader(title);
        hint(explained);
    }
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const LaneHistory& lane = *viewer.show.lanes()[i];
        if (lane.steps() == 0) continue;
        const std::int64_t step = viewer.step_of(lane);
        const auto number = [&](double value) {
            ImGui::TableNextColumn();
            ImGui::AlignTextToFramePadding();
            ImGui::TextUnformatted(exact_text(value, view.quantity).c_str());
        };
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        Flow(0).swatch(lane_colour(viewer, i), lane_title(viewer, i), viewer.palette().text);
        number(measured(lane.costs(step), view.quantity));
        number(measured(lane.costs_so_far(step), view.quantity));
        ImGui::TableNextColumn();
        const double expected = closed_form(lane.costs_so_far(step), view.quantity);
        const bool right = right_so_far(viewer, i);
        ImGui::AlignTextToFramePadding();
        ImGui::PushStyleColor(ImGuiCol_Text,
                              right ? viewer.palette().text : viewer.palette().warning);
        ImGui::TextUnformatted(
            ((right ? "= " : "\xe2\x89\xa0 ") + exact_text(expected, view.quantity)).c_str());
        ImGui::PopStyleColor();
        ImGui::TableNextColumn();
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(fit_text(view.curves()[i]).c_str());
        hint(about_fit);
    }
    ImGui::EndTable();
}

}  // namespace

void draw_costs(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const CompactControls compact(viewer.scale);
    const float em = ImGui::GetFontSize();
    {
        Flow flow(em * 0.5f);
        draw_controls(viewer.costs, flow);
    }
    viewer.costs.update(viewer.show.lanes());
    {
        Flow flow(em * 0.7f);
        draw_legend(viewer, flow);
    }
    const float room = ImGui::GetContentRegionAvail().y;
    const float lanes = static_cast<float>(viewer.show.lanes().size());
    const float table = std::min((lanes + 1) * em * 1.5f + em * 0.3f, room / 3);
    const bool tall = room > em * 18;
    draw_plot(viewer, std::max(tall ? room - table - em * 0.5f : room, em));
    if (tall) draw_table(viewer, table);
}

}  // namespace kvtape
