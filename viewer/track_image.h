// The cells of one lane's cache as pixels. A *track* is one (layer, KV head, K or V), and has a
// cell for each position of the sequence.
//
//   track   layer 0: K of head 0, V of head 0, K of head 1, V of head 1, ..., layer 1: ...
//
// Most tracks have had the same done to them, as every layer writes and reads the same positions.
// So the picture has a line for each history, not for each track: a cache of 32 layers and 8 heads
// needs one line instead of 512.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/cell_colours.h"
#include "viewer/lane_history.h"

namespace kvtape {

struct TrackId {
    std::int32_t layer = 0, kv_head = 0;
    Kind kind = Kind::key;
    friend bool operator==(const TrackId&, const TrackId&) = default;
};

inline std::int64_t track_count(const ModelShape& shape) {
    return 2 * shape.layers * shape.kv_heads;
}
inline std::int64_t track_number(const ModelShape& shape, TrackId id) {
    return (id.layer * shape.kv_heads + id.kv_head) * 2 + static_cast<std::int64_t>(id.kind);
}
inline TrackId track_id(const ModelShape& shape, std::int64_t number) {
    return {static_cast<std::int32_t>(number / 2 / shape.kv_heads),
            static_cast<std::int32_t>(number / 2 % shape.kv_heads), static_cast<Kind>(number % 2)};
}

// The columns of a lane's picture that are on show: cells of positions [first, first + count), in
// so many columns of pixels.
struct ColumnsOnShow {
    double first = 0, count = 0;
    std::int64_t pixels = 0;
    friend bool operator==(const ColumnsOnShow&, const ColumnsOnShow&) = default;
};

class TrackImage {
  public:
    // What the picture was painted from.
    struct Key {
        std::int64_t step = -1;
        double within = 1;
        std::int32_t sequence = 0;
        ColourBy by = ColourBy::phase;
        bool dark = true;
        std::int64_t steps_known = 0;  // a lane that grows may change what is there
        friend bool operator==(const Key&, const Key&) = default;
    };

    // Paints all cells anew if the key has changed. Returns whether it has. `at.step` is one of the
    // lane's steps.
    bool paint(const LaneHistory& lane, const Playhead& at, std::int32_t sequence, ColourBy by,
               const Palette& palette, bool dark);

    std::int64_t width() const { return width_; }  // positions
    std::int64_t lines() const { return lines_; }
    // The line of a track.
    std::int64_t line_of(std::int64_t track) const {
        return line_of_[static_cast<std::size_t>(track)];
    }
    Rgba pixel(std::int64_t track, std::int64_t position) const {
        return pixels_[static_cast<std::size_t>(line_of(track) * width_ + position)];
    }

    // The cells of `shown` as a picture of `height` <= lines() lines: (height, shown.pixels). A
    // pixel that stands for several cells has the colour of the loudest: a row that is written now
    // is seen however small it is.
    void cut(const ColumnsOnShow& shown, std::int64_t height, std::vector<Rgba>& out) const;

    // Cells that hold a row at the moment painted.
    std::int64_t lit_cells() const { return lit_; }

  private:
    Key key_;
    std::int64_t width_ = 0, lines_ = 0, lit_ = 0;
    std::vector<Rgba> pixels_;
    std::vector<std::uint8_t> loudness_;  // (lines, width)
    std::vector<std::int64_t> line_of_;   // by track
    std::vector<Cell> cells_;             // (width)
};

}  // namespace kvtape
