// A panel is one window of the viewer: a name, a purpose and a function that draws what is in it.
// To add one, write viewer/panels/NAME.cpp and enter it in viewer/panel.cpp.
#pragma once

#include <span>
#include <string>

namespace kvtape {

class Viewer;

struct Panel {
    const char* name;     // on the command line: --panel grid
    const char* title;    // in the window
    const char* purpose;  // one sentence, shown when the title is hovered
    void (*draw)(Viewer& viewer);
};

std::span<const Panel> all_panels();
// For people, with commas.
std::string panel_names();

// Draws inside a window that is already open.
void draw_transport(Viewer& viewer);
void draw_cache_grid(Viewer& viewer);
void draw_side_by_side(Viewer& viewer);
void draw_memory(Viewer& viewer);
void draw_costs(Viewer& viewer);
void draw_latency(Viewer& viewer);
void draw_inspector(Viewer& viewer);
void draw_events(Viewer& viewer);
void draw_guide(Viewer& viewer);
void draw_live(Viewer& viewer);

}  // namespace kvtape
