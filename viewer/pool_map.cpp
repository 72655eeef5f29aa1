#include "viewer/pool_map.h"

#include <algorithm>
#include <cmath>

namespace kvtape {
namespace {

constexpr double largest_slot = 18, smallest_slot = 2;  // pixels at scale 1
constexpr double largest_cell = 18, smallest_cell = 3;

std::int64_t ceil_of(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Sets the texel and how many units stand side by side. The gap after the last one may be cut off.
void stretch(PoolMap& map, double texel, double width) {
    map.texel = texel;
    const double gap = map.boxes ? texel : 0;
    const double fit = std::floor((width + gap) / map.unit_width());
    map.across = std::clamp<std::int64_t>(static_cast<std::int64_t>(fit), 1,
                                          std::max<std::int64_t>(map.units, 1));
    map.lines = ceil_of(map.units, map.across);
}

// Tries texels from large to small, whole pixels all of them.
bool fit(PoolMap& map, double width, double height, double largest, double smallest) {
    for (double texel = std::floor(largest); texel >= smallest; --texel) {
        stretch(map, texel, width);
        const double gap = map.boxes ? texel : 0;
        if (map.unit_width() - gap <= width && map.height() <= height) return true;
    }
    return false;
}

}  // namespace

PoolMap::Box PoolMap::box(std::int64_t unit) const {
    const double gap = boxes ? texel : 0;
    return {unit_width() * static_cast<double>(unit % across),
            unit_height() * static_cast<double>(unit / across), unit_width() - gap,
            unit_height() - gap};
}

PoolMap::Box PoolMap::slot_box(std::int64_t unit, std::int64_t slot) const {
    const Box of = box(unit);
    if (!boxes) return of;
    return {of.x + texel * static_cast<double>(slot % slots_across),
            of.y + texel * static_cast<double>(slot / slots_across), texel, texel};
}

std::optional<PoolMap::Hit> PoolMap::hit(double x, double y) const {
    if (!(x >= 0 && y >= 0)) return std::nullopt;
    const double column = std::floor(x / unit_width()), line = std::floor(y / unit_height());
    if (column >= static_cast<double>(across) || line >= static_cast<double>(lines)) {
        return std::nullopt;
    }
    const std::int64_t unit =
        static_cast<std::int64_t>(line) * across + static_cast<std::int64_t>(column);
    if (unit >= units) return std::nullopt;
    if (!boxes) return Hit{unit, -1};
    const auto slot_x = static_cast<std::int64_t>((x - column * unit_width()) / texel);
    const auto slot_y = static_cast<std::int64_t>((y - line * unit_height()) / texel);
    if (slot_x >= slots_across || slot_y >= slots_down) return std::nullopt;  // the gap
    const std::int64_t slot = slot_y * slots_across + slot_x;
    return Hit{unit, slot < slots ? slot : -1};
}

PoolMap map_of_blocks(std::int64_t blocks, std::int64_t block_size, double width, double height,
                      double scale) {
    PoolMap map;
    map.boxes = true;
    map.units = blocks;
    map.slots = block_size;
    // Close to a square, and a power of two wide: 4 x 4 for 16, 4 x 2 for 8.
    while (map.slots_across * map.slots_across < block_size) map.slots_across *= 2;
    map.slots_down = ceil_of(block_size, map.slots_across);
    if (fit(map, width, height, largest_slot * scale, smallest_slot * scale)) return map;
    return map_of_cells(blocks, width, height, scale);
}

PoolMap map_of_cells(std::int64_t cells, double width, double height, double scale) {
    PoolMap map;
    map.units = cells;
    if (!fit(map, width, height, largest_cell * scale, smallest_cell * scale)) {
        stretch(map, std::floor(smallest_cell * scale), width);
    }
    return map;
}

double scroll_length(double map_height, double shown_height) {
    return std::max(std::min(map_height, longest_scroll), shown_height);
}

double scrolled_to(double scroll, double map_height, double shown_height) {
    const double most = scroll_length(map_height, shown_height) - shown_height;
    if (!(most > 0)) return 0;
    return std::clamp(scroll / most, 0.0, 1.0) * (map_height - shown_height);
}

}  // namespace kvtape
