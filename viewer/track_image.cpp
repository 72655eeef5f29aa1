#include "viewer/track_image.h"

#include <algorithm>
#include <map>

namespace kvtape {

bool TrackImage::paint(const LaneHistory& lane, const Playhead& at, std::int32_t sequence,
                       ColourBy by, const Palette& palette, bool dark) {
    Playhead then = at;  // a lane that is shorter than others stands still at its end
    if (then.step >= lane.steps()) {
        then.step = lane.steps() - 1;
        then.within = 1;
    }
    const Key key{then.step, then.within, sequence, by, dark, lane.steps()};
    if (key == key_) return false;
    key_ = key;

    const ModelShape& shape = lane.shape();
    width_ = lane.longest(sequence);
    height_ = track_count(shape);
    lit_ = 0;
    pixels_.assign(static_cast<std::size_t>(width_ * height_), palette.empty);
    if (lane.steps() == 0 || width_ == 0) return true;
    cells_.resize(static_cast<std::size_t>(width_));

    // The first track with a history, and how many of its cells are lit. dtype errors differ by
    // layer, so then each layer has a picture of its own.
    struct Painted {
        std::int64_t track, lit;
    };
    std::map<std::pair<std::uint64_t, std::int32_t>, Painted> painted;
    for (std::int64_t track = 0; track < height_; ++track) {
        const TrackId id = track_id(shape, track);
        const std::uint64_t history =
            lane.playback().fingerprint(sequence, id.layer, id.kv_head, id.kind);
        const auto [found, fresh] = painted.try_emplace(
            {history, by == ColourBy::dtype_error ? id.layer : 0}, Painted{track, 0});
        const auto row = pixels_.begin() + track * width_;
        if (!fresh) {
            std::copy_n(pixels_.begin() + found->second.track * width_, width_, row);
            lit_ += found->second.lit;
            continue;
        }
        lane.playback().cells(then.step, sequence, id.layer, id.kv_head, id.kind, 0, cells_);
        const std::span<Rgba> colours(&*row, static_cast<std::size_t>(width_));
        colour_cells(lane, then, id.layer, by, palette, cells_, colours);
        found->second.lit = width_ - std::count(colours.begin(), colours.end(), palette.empty);
        lit_ += found->second.lit;
    }
    return true;
}

}  // namespace kvtape
