#include "viewer/pool_picture.h"

#include <algorithm>

namespace kvtape {
namespace {

Rgba lit(Rgba colour, const Palette& palette) {
    return colour == palette.empty ? wasted_colour(palette) : colour;
}

Rgba colour_at(std::span<const Rgba> slots, std::int64_t slot, const Palette& palette) {
    return slot < std::ssize(slots) ? lit(slots[static_cast<std::size_t>(slot)], palette)
                                    : wasted_colour(palette);
}

}  // namespace

bool PoolPicture::update(const LaneHistory& lane, const Playhead& at, TrackId track, ColourBy by,
                         const Palette& palette, bool dark) {
    const Key key{&lane, lane.steps(), at.step, at.within, track, by, dark};
    if (key == key_) return false;
    const bool same_moment = key.lane == key_.lane && key.steps_known == key_.steps_known &&
                             key.step == key_.step && key.track == key_.track;
    key_ = key;
    if (!same_moment) storage_ = storage_at(lane, at.step, track);
    colours_.clear();
    for (const auto& [sequence, cells] : storage_.cells) {
        std::vector<Rgba>& colours = colours_[sequence];
        colours.resize(cells.size());
        colour_cells(lane, at, track.layer, by, palette, cells, colours);
    }
    return true;
}

std::span<const Rgba> PoolPicture::slots(const Unit& unit) const {
    const std::vector<Rgba>& colours = colours_.at(unit.sequence);
    const std::int64_t begin = std::min(unit.index * storage_.slots_of_unit, std::ssize(colours));
    const std::int64_t end = std::min(begin + storage_.slots_of_unit, std::ssize(colours));
    return std::span(colours).subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin));
}

Rgba PoolPicture::mean_colour(std::span<const Rgba> slots, const Palette& palette) const {
    double sums[3] = {};
    const auto add = [&](Rgba colour, double times) {
        for (unsigned c = 0; c < 3; ++c) sums[c] += times * ((colour >> 8 * c) & 0xff);
    };
    for (const Rgba colour : slots) add(lit(colour, palette), 1);
    const auto all = static_cast<double>(storage_.slots_of_unit);
    add(wasted_colour(palette), all - static_cast<double>(slots.size()));
    const auto mean = [&](int c) { return static_cast<unsigned>(sums[c] / all + 0.5); };
    return rgb(mean(0), mean(1), mean(2));
}

void PoolPicture::paint(const PoolMap& map, std::int64_t first_line, std::int64_t lines,
                        const Palette& palette, std::vector<Rgba>& pixels) const {
    const std::int64_t stride = map.across * map.unit_texels_x();
    pixels.assign(static_cast<std::size_t>(stride * lines * map.unit_texels_y()), 0);
    for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t column = 0; column < map.across; ++column) {
            const std::int64_t number = (first_line + line) * map.across + column;
            if (number >= map.units) return;
            Rgba* const corner = &pixels[static_cast<std::size_t>(
                line * map.unit_texels_y() * stride + column * map.unit_texels_x())];
            if (!storage_.paged) {  // a cell is a slot
                const Unit& unit =
                    storage_.units[static_cast<std::size_t>(number / storage_.slots_of_unit)];
                *corner = colour_at(slots(unit), number % storage_.slots_of_unit, palette);
                continue;
            }
            const Unit* const unit = storage_.unit(number);
            const std::span<const Rgba> colours =
                unit == nullptr ? std::span<const Rgba>() : slots(*unit);
            if (!map.boxes) {
                *corner = unit == nullptr ? free_colour(palette) : mean_colour(colours, palette);
                continue;
            }
            for (std::int64_t slot = 0; slot < map.slots; ++slot) {
                corner[slot / map.slots_across * stride + slot % map.slots_across] =
                    unit == nullptr ? free_colour(palette) : colour_at(colours, slot, palette);
            }
        }
    }
}

}  // namespace kvtape
