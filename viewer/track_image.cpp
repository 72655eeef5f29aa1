#include "viewer/track_image.h"

#include <algorithm>
#include <map>

namespace kvtape {

bool TrackImage::paint(const LaneHistory& lane, const Playhead& at, std::int32_t sequence,
                       ColourBy by, const Palette& palette, bool dark) {
    const Key key{at.step, at.within, sequence, by, dark, lane.steps()};
    if (key == key_) return false;
    key_ = key;

    const ModelShape& shape = lane.shape();
    width_ = lane.longest(sequence);
    lines_ = 0;
    lit_ = 0;
    pixels_.clear();
    line_of_.clear();
    cells_.resize(static_cast<std::size_t>(width_));
    if (lane.steps() == 0 || width_ == 0) return true;

    struct Line {
        std::int64_t number, lit;
    };
    // By history; dtype errors differ by layer, so then each layer has lines of its own.
    std::map<std::pair<std::uint64_t, std::int32_t>, Line> painted;
    for (std::int64_t track = 0; track < track_count(shape); ++track) {
        const TrackId id = track_id(shape, track);
        const std::uint64_t history =
            lane.playback().fingerprint(sequence, id.layer, id.kv_head, id.kind);
        const auto [found, fresh] = painted.try_emplace(
            {history, by == ColourBy::dtype_error ? id.layer : 0}, Line{lines_, 0});
        Line& line = found->second;
        if (fresh) {
            ++lines_;
            pixels_.resize(static_cast<std::size_t>(lines_ * width_));
            const std::span<Rgba> colours =
                std::span(pixels_).last(static_cast<std::size_t>(width_));
            lane.playback().cells(at.step, sequence, id.layer, id.kv_head, id.kind, 0, cells_);
            colour_cells(lane, at, id.layer, by, palette, cells_, colours);
            line.lit = width_ - std::count(colours.begin(), colours.end(), palette.empty);
        }
        line_of_.push_back(line.number);
        lit_ += line.lit;
    }
    return true;
}

}  // namespace kvtape
