// The window: GLFW and OpenGL 3.3 around the viewer.
#pragma once

#include "viewer/stage.h"

namespace kvtape {

// Returns when the window is closed. Throws Error, with a hint to --screenshot, if there is no
// display or no OpenGL 3.3; and if the tapes can be opened, but have no such step or cell.
void run_window(const StageOptions& options);

}  // namespace kvtape
