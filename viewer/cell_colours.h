// From what is in a cell of the cache to the colour of its pixel.
#pragma once

#include <cstdint>
#include <span>

#include "tracer/playback.h"
#include "viewer/lane_history.h"
#include "viewer/palette.h"
#include "viewer/playhead.h"

namespace kvtape {

enum class ColourBy : std::uint8_t { phase, age, reads, dtype_error, sequence };
const char* name(ColourBy by);
inline constexpr ColourBy all_colour_modes[] = {ColourBy::phase, ColourBy::age, ColourBy::reads,
                                                ColourBy::dtype_error, ColourBy::sequence};

// Colours of the rows of one (sequence, layer, KV head, kind) at positions 0, 1, ... A cell that
// holds nothing at this moment, or nothing yet, has the colour `empty`.
//
//   cells     as playback gives them for step `at.step`
//   colours   (cells), overwritten
void colour_cells(const LaneHistory& lane, const Playhead& at, std::int32_t layer, ColourBy by,
                  const Palette& palette, std::span<const Cell> cells, std::span<Rgba> colours);

}  // namespace kvtape
