#include "viewer/track_image.h"

#include <algorithm>
#include <map>

namespace kvtape {
namespace {

// Of a cell, among those that share a pixel.
enum Loudness : std::uint8_t { nothing, a_row, not_finite, written_now };

}  // namespace

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
    loudness_.clear();
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
            for (std::size_t i = 0; i < cells_.size(); ++i) {
                loudness_.push_back(colours[i] == palette.empty        ? nothing
                                    : cells_[i].written_now            ? written_now
                                    : colours[i] == palette.not_finite ? not_finite
                                                                       : a_row);
            }
        }
        line_of_.push_back(line.number);
        lit_ += line.lit;
    }
    return true;
}

void TrackImage::cut(const ColumnsOnShow& shown, std::int64_t height,
                     std::vector<Rgba>& out) const {
    const double cells_per_pixel = shown.count / static_cast<double>(shown.pixels);
    const auto first_cell = [&](std::int64_t pixel) {
        return static_cast<std::int64_t>(shown.first +
                                         static_cast<double>(pixel) * cells_per_pixel);
    };
    out.clear();
    for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t line = y * lines_ / height * width_;
        for (std::int64_t x = 0; x < shown.pixels; ++x) {
            // Every cell belongs to one pixel.
            const std::int64_t begin = first_cell(x);
            const std::int64_t end = std::min(std::max(first_cell(x + 1), begin + 1), width_);
            const auto loudest =
                std::max_element(loudness_.begin() + line + begin, loudness_.begin() + line + end);
            out.push_back(pixels_[static_cast<std::size_t>(loudest - loudness_.begin())]);
        }
    }
}

}  // namespace kvtape
