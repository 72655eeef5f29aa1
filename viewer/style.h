// How the viewer looks: font, distances and colours, all scaled once.
#pragma once

#include "viewer/palette.h"

struct ImFontAtlas;

namespace kvtape {

// The font for a scale (1: a 96 dpi display). Call once, before the first frame.
void load_font(ImFontAtlas& atlas, float scale);

// Sets all of ImGui's style from scratch, so it may be called again when a palette is chosen.
void apply_style(const Palette& palette, float scale);

}  // namespace kvtape
