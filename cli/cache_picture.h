// The cells of a cache as characters, one per position:
//
//   #  written in this step (and read)      o  written earlier, read in this step
//   -  written earlier, not read now        .  nothing there
//
//     0  [oooo][oo#.]          paged, B = 4
//     0  oooooo#               not paged
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tracer/playback.h"

namespace kvtape {

inline constexpr const char* picture_legend =
    "# written now   o written before, read now   - not read now   . empty";

// Each line starts with `indent` spaces and the position of its first cell. `block_size` is 0
// unless the lane is paged; blocks too long for a line are drawn without brackets.
std::string cache_picture(std::span<const Cell> cells, std::int64_t block_size, int indent);

}  // namespace kvtape
