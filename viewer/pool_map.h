// Where storage stands on the screen. It knows no windows.
//
//   boxes   a block is a box of its B slots, and boxes stand in lines:   ooo. ooo. oo..
//           (unit = block)                                               ooo. oo.. ....
//   cells   units without a gap, where boxes would be too small or there are no blocks
//           (unit = block, or position of a sequence)
//
// A picture of a map has a texel per slot and, between boxes, one texel of gap.
#pragma once

#include <cstdint>
#include <optional>

namespace kvtape {

struct PoolMap {
    bool boxes = false;
    std::int64_t units = 0;
    std::int64_t slots = 1;  // of a box
    std::int64_t slots_across = 1, slots_down = 1;
    std::int64_t across = 1, lines = 0;  // units side by side; lines of them
    double texel = 1;                    // in pixels

    std::int64_t unit_texels_x() const { return boxes ? slots_across + 1 : 1; }
    std::int64_t unit_texels_y() const { return boxes ? slots_down + 1 : 1; }
    double unit_width() const { return texel * static_cast<double>(unit_texels_x()); }
    double unit_height() const { return texel * static_cast<double>(unit_texels_y()); }
    double height() const { return unit_height() * static_cast<double>(lines); }

    // Pixels from the top left corner of the map; without the gap after a box.
    struct Box {
        double x, y, width, height;
    };
    Box box(std::int64_t unit) const;
    Box slot_box(std::int64_t unit, std::int64_t slot) const;

    struct Hit {
        std::int64_t unit, slot;  // slot -1: beside the slots of the box
    };
    std::optional<Hit> hit(double x, double y) const;

    friend bool operator==(const PoolMap&, const PoolMap&) = default;
};

// The largest boxes, or else cells, with which all units fit into width x height. If none are small
// enough, lines go on below. `scale`: 2 where a pixel is half as large.
PoolMap map_of_blocks(std::int64_t blocks, std::int64_t block_size, double width, double height,
                      double scale);
PoolMap map_of_cells(std::int64_t cells, double width, double height, double scale);

// The part of a long map that a scroll bar shows. The bar moves over at most `longest_scroll`
// pixels, as 32-bit floats cannot count much further; what is longer moves faster under it.
inline constexpr double longest_scroll = 1e6;
double scroll_length(double map_height, double shown_height);
// Pixels of the map above the part shown.
double scrolled_to(double scroll, double map_height, double shown_height);

}  // namespace kvtape
