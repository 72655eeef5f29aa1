// What is on show at first, as the options of the command line have it. The window, pictures and
// films set the same stage; only a window plays on from there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/live.h"

namespace kvtape {

struct StageOptions {
    std::vector<std::string> tapes;
    std::string size = "1280x720";
    std::optional<double> scale;       // default: what the display asks for, or suits the size
    std::optional<std::int64_t> step;  // default: the last one; a window plays from the first
    std::optional<double> within;      // how much of the step has happened; default: all
    double steps_per_second = 2;
    std::string panel;  // alone; "" = all
    std::optional<int> lesson;
    std::optional<int> page;               // of the lesson, from 1
    std::optional<std::string> colour_by;  // the name of a ColourBy
    std::optional<std::string> cell;       // "LAYER,HEAD,k,POSITION": the one that is looked into
    std::optional<std::int64_t> zoom;      // columns and lines of the grid around the cell
    bool light = false;
    MakeLive make_live;
    bool live = false;  // its panel is open
};

struct Size {
    int width, height;
};
// "1280x720". Throws Error for anything else.
Size parse_size(const std::string& text);

// Throws Error for options that are wrong whatever the tapes hold.
void check(const StageOptions& options);

// Throws Error unless there is such a step; `option` asks for it.
std::int64_t check_step(const char* option, std::int64_t step, const Viewer& viewer);
// That there are none, and why if the tapes say so.
std::string no_steps(const Viewer& viewer);

// Everything but the size and the tapes, which are open already. Throws Error if they have no such
// step or cell, or if there is no such lesson.
enum class Time : bool { stands, runs };
void set_stage(Viewer& viewer, const StageOptions& options, Time time);

}  // namespace kvtape
