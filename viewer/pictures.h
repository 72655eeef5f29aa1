// `kvtape view --screenshot` and `--record`: pictures for which no window is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/stage.h"

namespace kvtape {

struct FilmOptions {
    std::optional<std::int64_t> from, to;  // steps; default: all
    int frames_per_second = 20;
};

// Both throw Error if a tape cannot be opened, has no such step, or the file cannot be written.
// What is to be said of a tape that is cut or damaged goes to standard error.
void take_screenshot(const std::string& path, const StageOptions& options);
void record_film(const std::string& path, const StageOptions& options, const FilmOptions& film);

}  // namespace kvtape
