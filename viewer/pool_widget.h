// The picture of a lane's storage in a panel: drawn, scrolled, pointed at.
#pragma once

#include <imgui.h>

#include "viewer/pool_map.h"
#include "viewer/viewer.h"

namespace kvtape {

// Where a map stands in the window.
struct PoolArea {
    PoolMap map;
    ImVec2 at;  // its top left corner, which may be scrolled out of view
    ImVec2 clip_min, clip_max;

    ImVec2 min_of(const PoolMap::Box& box) const {
        return {at.x + static_cast<float>(box.x), at.y + static_cast<float>(box.y)};
    }
    ImVec2 max_of(const PoolMap::Box& box) const {
        return {at.x + static_cast<float>(box.x + box.width),
                at.y + static_cast<float>(box.y + box.height)};
    }
    bool shows(const PoolMap::Box& box) const {
        return max_of(box).y > clip_min.y && min_of(box).y < clip_max.y;
    }
};

// All tracks of a lane are mostly alike; of a cell that was chosen, it is the cell's own.
TrackId track_on_show(const Viewer& viewer, std::size_t lane);

// What viewer.memory.picture is of, in `size` at the cursor. Where the lane is paged, the block
// table of the sequence on show stands above. `changed`: since it was drawn last.
void draw_pool(Viewer& viewer, std::size_t lane, ImVec2 size, bool changed);

// The block table as a strip of logical blocks, with an arrow from each down to its physical block.
// If there are more than can be told apart, only some have arrows, the newest among them.
void draw_block_table(const Viewer& viewer, std::size_t lane, ImVec2 at, float width, float height,
                      const PoolArea& area);

}  // namespace kvtape
