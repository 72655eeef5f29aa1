// Where panels stand, in windows of many sizes, and from one session to the next.
#include "viewer/layout.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

constexpr Room small = {1280, 720, 23, 1, false, false};
constexpr Room large_room = {2560, 1440, 46, 2, false, false};

void expect_near(const Rect& a, const Rect& b) {
    EXPECT_NEAR(a.x, b.x, 0.51);
    EXPECT_NEAR(a.y, b.y, 0.51);
    EXPECT_NEAR(a.width, b.width, 0.51);
    EXPECT_NEAR(a.height, b.height, 0.51);
}

TEST(LayoutTest, APanelThatNobodyMovedStandsAtItsDefaultPlace) {
    for (const Room& room : {small, large_room}) {
        expect_near(place_of("grid", room, {}), *default_place("grid", room));
    }
}

// ImGui cuts places to whole pixels: that is nobody's move.
TEST(LayoutTest, RoundingMovesNothing) {
    MovedPanels moved;
    const Rect place = place_of("costs", small, moved);
    note_place("costs", {place.x - 0.9f, place.y, place.width, place.height + 0.9f}, small, moved);
    EXPECT_TRUE(moved.empty());
}

TEST(LayoutTest, AMovedPanelKeepsItsShareOfTheWindow) {
    MovedPanels moved;
    const Rect there = {100, 123, 400, 300};
    note_place("costs", there, small, moved);
    ASSERT_EQ(moved.size(), 1u);
    expect_near(place_of("costs", small, moved), there);
    expect_near(place_of("costs", {1281, 720, 23, 1, false, false}, moved), {100, 123, 400, 300});
    // Below the menu there are 697 pixels, and 1394 in the large window.
    expect_near(place_of("costs", large_room, moved), {200, 46 + 200, 800, 600});
    expect_near(place_of("grid", large_room, moved), *default_place("grid", large_room));
}

TEST(LayoutTest, NoPanelIsTooSmallForItsTitle) {
    const Rect place = place_of("side-by-side", {64, 64, 23, 2, false, false}, {});
    EXPECT_EQ(place.width, least_width * 2);
    EXPECT_EQ(place.height, least_height * 2);
    MovedPanels moved;
    note_place("side-by-side", place, {64, 64, 23, 2, false, false}, moved);
    EXPECT_TRUE(moved.empty());
}

TEST(LayoutTest, AWindowWithoutRoomMovesNothing) {
    MovedPanels moved;
    note_place("grid", {5, 5, 100, 100}, {0, 0, 23, 1, false, false}, moved);
    EXPECT_TRUE(moved.empty());
}

TEST(LayoutTest, ComesBackFromItsText) {
    Layout layout;
    layout.dark = false;
    layout.visible = {{"costs", false}, {"side-by-side", true}};
    layout.moved = {{"grid", {0.25f, 0.125f, 0.5f, 0.75f}}};
    const Layout read = read_layout(layout_text(layout));
    EXPECT_FALSE(read.dark);
    EXPECT_EQ(read.visible, layout.visible);
    ASSERT_EQ(read.moved.size(), 1u);
    expect_near(place_of("grid", small, read.moved), place_of("grid", small, layout.moved));
    EXPECT_TRUE(read_layout(layout_text({})).dark);
}

TEST(LayoutTest, LinesThatMakeNoSenseAreNotThere) {
    for (const char* line :
         {"", "\n\n", "at grid", "at grid 0 0 nan 1", "at grid 0 0 1e9 1", "at grid 7 0 1 1",
          "at grid 0 0 -1 1", "at grid 0 0 0 0", "[Window][Cache grid]\nPos=0,22", "open"}) {
        const Layout layout = read_layout(line);
        EXPECT_TRUE(layout.moved.empty()) << line;
        EXPECT_TRUE(layout.visible.empty()) << line;
        EXPECT_TRUE(layout.dark) << line;
    }
}

}  // namespace
}  // namespace kvtape
