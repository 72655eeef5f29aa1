#include "viewer/stage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/check.h"
#include "viewer/guide.h"
#include "viewer/panel.h"
#include "viewer/selection.h"
#include "viewer/viewer.h"

namespace kvtape {
namespace {

ColourBy parse_colour_by(const std::string& text) {
    if (text == "phase") return ColourBy::phase;
    if (text == "age") return ColourBy::age;
    if (text == "reads") return ColourBy::reads;
    if (text == "dtype") return ColourBy::dtype_error;
    if (text == "sequence") return ColourBy::sequence;
    fail("--colour-by is '", text, "'; use phase, age, reads, dtype or sequence");
}

void check_panel(const std::string& panel) {
    const auto panels = all_panels();
    const bool known = std::any_of(panels.begin(), panels.end(),
                                   [&](const Panel& one) { return panel == one.name; });
    if (!known) fail("--panel is '", panel, "'; use one of ", panel_names());
}

// "1,0,k,12": a cell of the first lane that keeps its rows, or of the first one there is.
CellId parse_cell(const std::string& text, const Viewer& viewer) {
    CellId cell;
    cell.sequence = viewer.grid.sequence;
    const auto& lanes = viewer.show.lanes();
    while (cell.lane < lanes.size() && lanes[cell.lane]->lane().cache == "none") ++cell.lane;
    if (cell.lane == lanes.size()) cell.lane = 0;
    char kind = 0, rest = 0;
    long long layer = -1, kv_head = -1, position = -1;  // as wide as typed: none wraps around
    const int found =
        std::sscanf(text.c_str(), "%lld,%lld,%c,%lld%c", &layer, &kv_head, &kind, &position, &rest);
    const auto narrow = [](long long number) {
        return static_cast<std::int32_t>(std::clamp(number, -1LL, 1LL << 30));
    };
    cell.track = {narrow(layer), narrow(kv_head), kind == 'v' ? Kind::value : Kind::key};
    cell.position = position;
    if (found != 4 || (kind != 'k' && kind != 'v')) {
        fail("--cell is '", text, "'; use layer, KV head, k or v, and position, such as 1,0,k,12");
    }
    if (!exists(viewer, cell)) fail("--cell ", text, ": the tape has no such cell");
    return cell;
}

void look_into_cell(Viewer& viewer, const StageOptions& options) {
    if (!options.cell) return;
    choose_sequence_on_show(viewer);
    const CellId cell = parse_cell(*options.cell, viewer);
    if (options.zoom) {
        const auto around = [&](std::int64_t place, std::int64_t all) {
            const auto count = static_cast<double>(std::min(*options.zoom, all));
            return moved({static_cast<double>(place) - std::floor(count / 2), count}, 0,
                         static_cast<double>(all));
        };
        const LaneHistory& lane = *viewer.show.lanes()[cell.lane];
        const Window columns = around(cell.position, lane.longest(cell.sequence));
        const Window lines =
            around(track_number(lane.shape(), cell.track), track_count(lane.shape()));
        viewer.grid.first_position = columns.first;
        viewer.grid.positions = columns.count;
        viewer.grid.first_track = lines.first;
        viewer.grid.tracks = lines.count;
    }
    select_cell(viewer, cell);
}

void go_to_step(Viewer& viewer, const StageOptions& options) {
    if (!options.step && !options.within) return;
    if (!options.step && viewer.steps() == 0) fail("--within needs a step, but ", no_steps(viewer));
    if (viewer.guide) viewer.guide->finish_move(viewer);
    const std::int64_t here = viewer.guide ? viewer.playhead.step : viewer.steps() - 1;
    const std::int64_t step = options.step.value_or(here);
    jump(viewer.playhead, check_step("--step", step, viewer), viewer.steps());
    viewer.playhead.within = options.within.value_or(1);
}

}  // namespace

Size parse_size(const std::string& text) {
    Size size{};
    const char* const end = text.data() + text.size();
    const auto [x, bad_width] = std::from_chars(text.data(), end, size.width);
    const bool has_x = bad_width == std::errc() && x != end && *x == 'x';
    const auto [rest, bad_height] = std::from_chars(has_x ? x + 1 : end, end, size.height);
    if (!has_x || bad_height != std::errc() || rest != end || size.width < 64 || size.height < 64 ||
        size.width > 16384 || size.height > 16384) {
        fail("--size is '", text, "'; use WIDTHxHEIGHT, each from 64 to 16384, such as 1280x720");
    }
    return size;
}

void check(const StageOptions& options) {
    parse_size(options.size);
    if (!options.panel.empty()) check_panel(options.panel);
    if (options.colour_by) parse_colour_by(*options.colour_by);
    const auto within = [](const char* option, double value, double least, double most) {
        if (value >= least && value <= most) return;
        fail(option, " is ", value, "; use a number from ", least, " to ", most);
    };
    within("--scale", options.scale.value_or(1), 0.5, 8);
    within("--within", options.within.value_or(1), 0, 1);
    within("--speed", options.steps_per_second, 0.01, 120);
    if (options.page && !options.lesson) fail("--page counts the pages of a lesson; add --lesson");
    if (options.zoom && !options.cell) fail("--zoom needs a cell to zoom to; add --cell");
    if (options.zoom && *options.zoom < 1) fail("--zoom is ", *options.zoom, "; use 1 or more");
}

std::int64_t check_step(const char* option, std::int64_t step, const Viewer& viewer) {
    if (step >= 0 && step < viewer.steps()) return step;
    if (viewer.steps() == 0) fail(option, " is ", step, ", but ", no_steps(viewer));
    fail(option, " is ", step, ", but the tape has steps 0 to ", viewer.steps() - 1);
}

std::string no_steps(const Viewer& viewer) {
    if (viewer.show.tapes().empty()) return "no tape is open";
    std::string text = "the tape has no steps";
    for (const OpenTape& tape : viewer.show.tapes()) {
        if (!tape.remark.empty()) text += ": " + tape.remark;
    }
    return text;
}

void set_stage(Viewer& viewer, const StageOptions& options, Time time) {
    viewer.only_panel = options.panel;
    viewer.playhead.steps_per_second = options.steps_per_second;
    if (options.make_live) viewer.live = options.make_live();
    if (options.live || options.panel == "live") viewer.visible["live"] = true;
    if (time == Time::runs) {
        viewer.begin();
    } else {
        jump(viewer.playhead, viewer.steps() - 1, viewer.steps());
    }
    if (options.lesson) start_lesson(viewer, *options.lesson, options.page.value_or(1));
    if (viewer.guide && time == Time::stands) viewer.guide->finish_move(viewer);
    go_to_step(viewer, options);
    if (options.colour_by) viewer.grid.by = parse_colour_by(*options.colour_by);
    look_into_cell(viewer, options);
}

}  // namespace kvtape
