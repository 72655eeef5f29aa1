#include "viewer/pictures.h"

#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/check.h"
#include "viewer/guide.h"
#include "viewer/image_file.h"
#include "viewer/offscreen.h"
#include "viewer/panel.h"
#include "viewer/selection.h"

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
    std::string names;
    for (const Panel& known : all_panels()) {
        if (panel == known.name) return;
        names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    fail("--panel is '", panel, "'; use one of ", names);
}

std::int64_t check_step(const char* option, std::int64_t step, std::int64_t steps) {
    if (step >= 0 && step < steps) return step;
    fail(option, " is ", step, ", but the tape has steps 0 to ", steps - 1);
}

// "1,0,k,12": a cell of the first lane that keeps its rows, or of the first one there is.
CellId parse_cell(const std::string& text, const Viewer& viewer) {
    CellId cell;
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

void look_into_cell(Viewer& viewer, const PictureOptions& options) {
    if (options.zoom && !options.cell) fail("--zoom needs a cell to zoom to; add --cell");
    if (!options.cell) return;
    const CellId cell = parse_cell(*options.cell, viewer);
    if (options.zoom) {
        if (*options.zoom < 1) fail("--zoom is ", *options.zoom, "; use 1 or more");
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

// A viewer with the tapes open and everything set but the step.
std::unique_ptr<Offscreen> set_stage(const std::vector<std::string>& tapes,
                                     const PictureOptions& options) {
    const bool live = options.live || options.panel == "live";
    if (tapes.empty() && !live) fail("no tape to draw; give a tape, 'kvtape demo' makes one");
    const Size size = parse_size(options.size);
    if (!options.panel.empty()) check_panel(options.panel);
    const double scale =
        options.scale.value_or(std::max(1.0, std::floor(size.width / 1280.0 * 2) / 2));
    if (!(scale >= 0.5 && scale <= 8)) fail("--scale is ", scale, "; use a number from 0.5 to 8");
    if (!(options.within >= 0 && options.within <= 1)) {
        fail("--within is ", options.within, "; use a number from 0 to 1");
    }
    auto stage = std::make_unique<Offscreen>(size.width, size.height, static_cast<float>(scale),
                                             !options.light);
    Viewer& viewer = stage->viewer();
    viewer.grid.by = parse_colour_by(options.colour_by);
    viewer.only_panel = options.panel;
    for (const std::string& tape : tapes) viewer.show.open(tape);
    if (options.make_live) viewer.live = options.make_live();
    if (live) viewer.visible["live"] = true;
    if (options.page && !options.lesson) fail("--page counts the pages of a lesson; add --lesson");
    if (options.lesson) {
        start_lesson(viewer, *options.lesson, options.page.value_or(1));
        viewer.guide->finish_move(viewer);
    }
    look_into_cell(viewer, options);
    return stage;
}

// One line that is drawn over itself, on a terminal only.
void show_progress(std::int64_t done, std::int64_t all) {
    if (isatty(STDERR_FILENO) == 0) return;
    constexpr int width = 40;
    const auto full = static_cast<int>(done * width / std::max<std::int64_t>(all, 1));
    std::fprintf(stderr, "\r\033[K[%s%s] %lld of %lld frames%s",
                 std::string(static_cast<std::size_t>(full), '#').c_str(),
                 std::string(static_cast<std::size_t>(width - full), '.').c_str(),
                 static_cast<long long>(done), static_cast<long long>(all),
                 done == all ? "\n" : "");
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

void take_screenshot(const std::vector<std::string>& tapes, const std::string& path,
                     const PictureOptions& options) {
    const auto stage = set_stage(tapes, options);
    Viewer& viewer = stage->viewer();
    if (options.step) check_step("--step", *options.step, viewer.steps());
    if (!options.lesson || options.step) {
        jump(viewer.playhead, options.step.value_or(viewer.steps() - 1), viewer.steps());
        viewer.playhead.within = options.within;
    }
    write_png(path, stage->draw());
}

void record_film(const std::vector<std::string>& tapes, const std::string& path,
                 const PictureOptions& options) {
    const auto stage = set_stage(tapes, options);
    Viewer& viewer = stage->viewer();
    if (viewer.steps() == 0) fail("there is nothing to film: the tape has no steps");
    const std::int64_t from = check_step("--from", options.from.value_or(0), viewer.steps());
    const std::int64_t to =
        check_step("--to", options.to.value_or(viewer.steps() - 1), viewer.steps());
    if (to < from) fail("--to is ", to, ", which is before --from ", from);
    if (options.frames_per_second < 1 || options.frames_per_second > 120) {
        fail("--fps is ", options.frames_per_second, "; use 1 to 120");
    }
    if (!(options.steps_per_second > 0 && options.steps_per_second <= 120)) {
        fail("--speed is ", options.steps_per_second, "; use a number above 0, at most 120");
    }

    const Size size = parse_size(options.size);
    Film film(path, size.width, size.height, options.frames_per_second);
    const double per_frame = options.steps_per_second / options.frames_per_second;
    const auto frames =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(to - from + 1) / per_frame)) + 1;
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const double at = static_cast<double>(from) + static_cast<double>(frame) * per_frame;
        jump(viewer.playhead, std::min(static_cast<std::int64_t>(at), to), viewer.steps());
        viewer.playhead.within = std::min(at - static_cast<double>(viewer.playhead.step), 1.0);
        film.add(stage->draw());
        show_progress(frame + 1, frames);
    }
    film.close();
}

}  // namespace kvtape
