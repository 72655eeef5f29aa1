// `kvtape view --screenshot` and `--record`: pictures for which no window is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/live.h"

namespace kvtape {

struct PictureOptions {
    std::string size = "1280x720";
    std::optional<double>
        scale;  // default: 1, or what makes 1280x720 of the size if that is larger
    std::optional<std::int64_t> step, from, to;
    double within = 1;
    std::string panel;
    std::optional<int> lesson;
    std::optional<int> page;  // of the lesson, from 1
    std::string colour_by = "phase";
    std::optional<std::string> cell;   // "LAYER,HEAD,k,POSITION": the one that is looked into
    std::optional<std::int64_t> zoom;  // columns and lines of the grid around the cell
    int frames_per_second = 20;
    double steps_per_second = 2;
    bool light = false;
    MakeLive make_live;
    bool live = false;  // its panel is open
};

struct Size {
    int width, height;
};
// "1280x720". Throws Error for anything else.
Size parse_size(const std::string& text);

// Both throw Error if a tape cannot be opened, has no such step, or the file cannot be written.
void take_screenshot(const std::vector<std::string>& tapes, const std::string& path,
                     const PictureOptions& options);
void record_film(const std::vector<std::string>& tapes, const std::string& path,
                 const PictureOptions& options);

}  // namespace kvtape
