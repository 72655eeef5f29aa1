// The numbers of a row, drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "viewer/layout.h"
#include "viewer/palette.h"

namespace kvtape {

// Fills the box with a place for each number, coloured by its value, and writes the numbers where
// they fit. Returns the index of the one under the mouse.
std::optional<std::int64_t> draw_values(const Rect& box, std::span<const float> values /* (D) */,
                                        const Palette& palette);

}  // namespace kvtape
