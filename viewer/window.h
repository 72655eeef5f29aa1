// The window: GLFW and OpenGL 3.3 around the viewer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/live.h"

namespace kvtape {

struct WindowOptions {
    std::string size = "1280x720";
    std::optional<double> scale;  // default: what the display asks for
    bool light = false;
    std::optional<int> lesson;
    MakeLive make_live;
    bool live = false;  // its panel is open at first, as it is where there is no tape
};

// Returns when the window is closed. Throws Error, with a hint to --screenshot, if there is no
// display or no OpenGL 3.3.
void run_window(const std::vector<std::string>& tapes, const WindowOptions& options);

}  // namespace kvtape
