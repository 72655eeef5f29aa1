// Plots over the steps of the tape: viewer/plot.h drawn with Dear ImGui.
#pragma once

#include <imgui.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/plot.h"
#include "viewer/viewer.h"

namespace kvtape {

// Of the lane's curve, and of its name beside it.
Rgba lane_colour(const Viewer& viewer, std::size_t lane);

class Plot {
  public:
    struct Frame {
        float width, height;
        float left = 0, right = 0;  // of these, beside the curves: for ticks, for labels
        bool step_ticks = true;     // below
        bool log = false;           // both axes; steps are then counted from 1
        const char* unit = "";      // of the values
        const char* caption = "";   // in a corner that no curve crosses; the glossary's
    };
    // Takes its place at the cursor and draws what stands behind curves.
    Plot(Viewer& viewer, const char* id, const Frame& frame, const Extent& values);

    // values[i] belongs to step i. A curve that lies on an earlier one is dashed, so that both are
    // seen.
    void curve(std::span<const double> values, Rgba colour);
    // Dots along the values, some distance apart.
    void dots(std::span<const double> values, Rgba colour);
    // Rings around the values of these steps; where they are close, around some.
    void rings(std::span<const double> values, std::span<const std::int64_t> steps, Rgba colour);
    // Over the curves: a line where the playhead is, a veil over what is still to come, and the
    // caption.
    void playhead();
    // To the right of where a curve ends. All at once, so that none lies on another.
    struct EndLabel {
        double value;
        Rgba colour;
        std::string text;
    };
    void end_labels(std::vector<EndLabel> labels);

    // The step under the mouse, with a line there. A press goes to it.
    std::optional<std::int64_t> hovered();

    // Room on the left that the ticks of such values need.
    static float tick_room(const Frame& frame, const Extent& values);

  private:
    double x_of(std::int64_t step) const { return x_.pixel(static_cast<double>(step) + first_x_); }
    void draw_ticks();
    ImVec2 caption_corner() const;

    Viewer& viewer_;
    Frame frame_;
    bool has_values_;
    bool over_caption_ = false;  // the mouse is; what it means is shown then
    double first_x_;             // of step 0
    Axis x_, y_;
    std::vector<std::vector<Polyline>> curves_;
};

}  // namespace kvtape
