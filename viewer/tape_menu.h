// The menu that opens tapes: those of the folder in which the viewer was started.
#pragma once

#include <string>
#include <vector>

namespace kvtape {

class Viewer;

// Names of the files in `folder` that end in .tape or .jsonl, sorted; none if it cannot be read.
std::vector<std::string> tapes_in(const std::string& folder);

void draw_tape_menu(Viewer& viewer);

}  // namespace kvtape
