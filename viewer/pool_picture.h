// The picture of a lane's storage at a moment: a texel per slot, or per unit where slots are too
// small to be seen. Only the lines on show are painted, so a pool may be of any size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "viewer/cell_colours.h"
#include "viewer/pool_map.h"
#include "viewer/storage.h"

namespace kvtape {

// A slot that is set aside and holds no row; a block that nobody holds.
inline Rgba wasted_colour(const Palette& palette) {
    return palette.line;
}
inline Rgba free_colour(const Palette& palette) {
    return mix(palette.panel, palette.empty, 0.6);
}

class PoolPicture {
  public:
    // What the picture is of.
    struct Key {
        const LaneHistory* lane = nullptr;
        std::int64_t steps_known = 0, step = -1;
        double within = 1;
        TrackId track;
        ColourBy by = ColourBy::phase;
        bool dark = true;
        friend bool operator==(const Key&, const Key&) = default;
    };

    // Looks at the lane anew if the key has changed. Returns whether it has.
    bool update(const LaneHistory& lane, const Playhead& at, TrackId track, ColourBy by,
                const Palette& palette, bool dark);

    const Storage& storage() const { return storage_; }

    // Colours of the unit's slots 0, 1, ... as far as there may be rows. palette.empty: none.
    std::span<const Rgba> slots(const Unit& unit) const;

    // Lines [first_line, first_line + lines) of the map: (lines * map.unit_texels_y(),
    // map.across * map.unit_texels_x()).
    void paint(const PoolMap& map, std::int64_t first_line, std::int64_t lines,
               const Palette& palette, std::vector<Rgba>& pixels) const;

  private:
    Rgba mean_colour(std::span<const Rgba> slots, const Palette& palette) const;

    Key key_;
    Storage storage_;
    std::map<std::int32_t, std::vector<Rgba>> colours_;  // by sequence, then position
};

// The state of the memory panel.
struct MemoryView {
    std::size_t lane = no_lane;  // chosen by hand; no_lane: the first paged one
    PoolPicture picture;

    // What the texture shows.
    std::uint64_t texture = 0;
    PoolMap map;
    std::int64_t first_line = 0, lines = 0;
    std::vector<Rgba> pixels;

    // The tapes were closed.
    void clear() {
        lane = no_lane;
        picture = {};
        map = {};
    }

    static constexpr std::size_t no_lane = static_cast<std::size_t>(-1);
};

}  // namespace kvtape
