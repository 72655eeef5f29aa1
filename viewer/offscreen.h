// Pictures without a window: an OpenGL context that needs neither X nor Wayland (EGL, surfaceless),
// and a picture in memory to draw on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "viewer/palette.h"
#include "viewer/viewer.h"

namespace kvtape {

struct Screenshot {
    int width = 0, height = 0;
    std::vector<Rgba> pixels;  // (height, width), top row first
};

class Offscreen {
  public:
    // Throws Error if no such context can be had.
    Offscreen(int width, int height, float scale, bool dark = true);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;

    Viewer& viewer();
    // Draws the viewer as it stands. No time passes, and the same state gives the same pixels.
    const Screenshot& draw();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kvtape
