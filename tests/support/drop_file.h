// Drops a file on a window, as a file manager does: the X drag-and-drop protocol, version 5
// (https://freedesktop.org/wiki/Specifications/XDND).
#pragma once

#include <string>

namespace kvtape {

// Drops the file on the middle of the first window of the display whose title contains `title`.
// Returns whether the window took it, within ten seconds.
bool drop_file(const std::string& display, const std::string& path, const std::string& title);

}  // namespace kvtape
