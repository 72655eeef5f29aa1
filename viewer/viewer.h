// The state of the viewer, and how a frame comes of it.
//
// A frame is a function of this state alone: of the tapes, the playhead, the layout and the view.
// Whoever owns a window (viewer/window.cpp), needs a picture without one (viewer/offscreen.cpp) or
// tests without either, sets ImGui's input for the frame and calls `frame`.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/cell_colours.h"
#include "viewer/cost_curves.h"
#include "viewer/event_scroll.h"
#include "viewer/grid_geometry.h"
#include "viewer/latencies.h"
#include "viewer/layout.h"
#include "viewer/palette.h"
#include "viewer/playhead.h"
#include "viewer/pool_picture.h"
#include "viewer/show.h"
#include "viewer/textures.h"
#include "viewer/track_image.h"

namespace kvtape {

// One cell of the cache.
struct CellId {
    std::size_t lane = 0;
    std::int32_t sequence = 0;
    TrackId track;
    std::int64_t position = 0;
    friend bool operator==(const CellId&, const CellId&) = default;
};

// How the cache grids are looked at. All lanes share it, so that equal columns stand under each
// other.
struct GridView {
    ColourBy by = ColourBy::phase;
    std::int32_t sequence = 0;
    double first_position = 0;  // at the left edge
    double positions = 0;       // across the width; 0 = all there are
    double first_track = 0;     // at the top edge of each lane
    double tracks = 0;          // down the height of a lane; 0 = all there are
};

// A pass that live mode computes at this moment.
struct PassUnderWay {
    std::size_t lane = 0;
    std::int32_t sequence = 0;
    std::int64_t position_begin = 0, position_end = 0;  // of the rows that it stores
    std::int64_t layers_done = 0;
};

// How the event list is looked at.
struct EventListView {
    std::size_t lane = 0;  // of which the rest speaks
    EventScroll scroll;
    bool follow = true;                  // the step on show
    std::int64_t followed_step = -1;     // whose events were put on top last
    std::optional<std::int64_t> marked;  // number of an event
    double grab = 0;                     // share of the scroll bar from grip's begin to the mouse
    std::array<char, 24> go_to{};        // what is typed into the field
    bool has_keys = false;               // the mouse is over it: arrow and page keys scroll it
};

class Guide;
class Live;

class Viewer {
  public:
    explicit Viewer(Textures& textures);
    ~Viewer();

    Show show;
    Playhead playhead;
    GridView grid;
    std::map<std::size_t, GridGeometry> grids;  // by lane: where the cells stood in the last frame
    std::optional<CellId> hovered;              // in the frame drawn last
    std::optional<CellId> selected;             // by a click
    std::optional<std::int64_t> event_focus;    // the event to scroll to, of `event_lane`
    std::size_t event_lane = 0;
    EventListView events;
    MemoryView memory;
    CostsView costs;
    LatencyView latency;
    bool dark = true;
    float scale = 1;                      // of fonts and distances: 2 on a HiDPI display
    std::string only_panel;               // if not empty, this panel fills the window
    std::map<std::string, bool> visible;  // panels that were switched on or off, by name
    bool show_help = false;
    MovedPanels moved_panels;   // by the user
    bool wants_layout = false;  // put the panels back to their default places
    std::string message;        // what went wrong last, in the words of the command line
    std::unique_ptr<Guide> guide;
    std::unique_ptr<Live> live;
    std::optional<PassUnderWay> pass;  // of live mode, as of this frame

    const Palette& palette() const { return dark ? dark_palette : light_palette; }
    Textures& textures() { return textures_; }

    // Opens a tape beside what is on show; an error is added to `message`. Returns whether it went
    // well.
    bool open(const std::string& path);
    // Opens tapes in the place of what is on show, and begins. If none of them can be opened, all
    // stays as it is. Errors become `message`.
    void open_instead(const std::vector<std::string>& paths);
    // Plays from the first step. A tape that may still grow is followed from its last one.
    void begin();
    // Adds a line to `message`.
    void say(const std::string& line);
    // Nothing is on show any more.
    void close_all();
    // Draws everything. `seconds` have passed since the frame before.
    void frame(double seconds);

    std::int64_t steps() const { return show.steps(); }
    // The step of a lane on show: its last one if it has no more.
    std::int64_t step_of(const LaneHistory& lane) const;
    // The layout as it is to be remembered.
    Layout layout() const;
    // A lane that has ended stands still with all of its last step done.
    Playhead playhead_of(const LaneHistory& lane) const;

    // Painted in this frame or an earlier one; its texture is up to date.
    struct Picture {
        TrackImage image;
        std::uint64_t texture = 0;
        ColumnsOnShow shown;  // by the texture
    };
    Picture& picture(std::size_t lane, const GridGeometry& geometry);

  private:
    void handle_keys();
    void draw_menu();
    void draw_panels();

    Textures& textures_;
    std::vector<Picture> pictures_;  // by lane
    std::vector<Rgba> texels_;       // of the picture that is uploaded
    std::optional<Room> room_;       // in the frame before
    bool live_is_open_ = false;      // in the frame before
    bool events_made_room_ = false;  // were open until the live panel came
};

}  // namespace kvtape
