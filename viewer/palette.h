// Every colour of the viewer. The hues are those of Okabe and Ito (2008), which people with the
// common forms of colour blindness can tell apart; meaning never hangs on red against green.
#pragma once

#include <cstdint>

namespace kvtape {

// Red in the lowest byte, as Dear ImGui and OpenGL's RGBA8 have it.
using Rgba = std::uint32_t;

constexpr Rgba rgb(unsigned r, unsigned g, unsigned b, unsigned a = 255) {
    return r | g << 8 | b << 16 | a << 24;
}

// `share` of b, the rest a; the alpha of a stays.
constexpr Rgba mix(Rgba a, Rgba b, double share) {
    Rgba mixed = a & 0xff000000u;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        const double from = (a >> shift) & 0xff, to = (b >> shift) & 0xff;
        mixed |= static_cast<Rgba>(from + (to - from) * share + 0.5) << shift;
    }
    return mixed;
}

struct Palette {
    Rgba background, panel, frame, text, faint_text, line;
    Rgba empty;               // a cell that holds nothing
    Rgba prefill;             // a row written by prefill
    Rgba decode;              // a row written by a decode step
    Rgba written_now;         // a row written in the step on show
    Rgba read_now;            // a row read in the step on show
    Rgba cold, hot;           // ends of a scale
    Rgba not_finite;          // NaN or infinity
    Rgba negative, positive;  // numbers of a row; zero has the colour `empty`
    Rgba accent, warning;
    Rgba pointer;    // the frame around what the guide speaks of
    Rgba series[8];  // lanes, sequences and curves; used in this order
};

constexpr Rgba okabe_ito_orange = rgb(230, 159, 0), okabe_ito_sky = rgb(86, 180, 233),
               okabe_ito_green = rgb(0, 158, 115), okabe_ito_yellow = rgb(240, 228, 66),
               okabe_ito_blue = rgb(0, 114, 178), okabe_ito_vermillion = rgb(213, 94, 0),
               okabe_ito_purple = rgb(204, 121, 167);

inline constexpr Palette dark_palette = {
    .background = rgb(20, 22, 26),
    .panel = rgb(28, 31, 36),
    .frame = rgb(46, 50, 58),
    .text = rgb(232, 234, 237),
    .faint_text = rgb(160, 166, 176),
    .line = rgb(70, 76, 86),
    .empty = rgb(42, 46, 54),
    .prefill = okabe_ito_blue,
    .decode = okabe_ito_orange,
    .written_now = okabe_ito_yellow,
    .read_now = rgb(214, 236, 250),
    .cold = rgb(24, 60, 96),
    .hot = rgb(255, 214, 120),
    .not_finite = okabe_ito_purple,
    .negative = okabe_ito_sky,
    .positive = okabe_ito_vermillion,
    .accent = okabe_ito_sky,
    .warning = okabe_ito_orange,
    .pointer = rgb(240, 130, 190),
    .series = {okabe_ito_sky, okabe_ito_orange, okabe_ito_green, okabe_ito_yellow, okabe_ito_purple,
               okabe_ito_vermillion, okabe_ito_blue, rgb(200, 200, 200)},
};

inline constexpr Palette light_palette = {
    .background = rgb(236, 238, 241),
    .panel = rgb(250, 250, 251),
    .frame = rgb(222, 226, 232),
    .text = rgb(28, 31, 36),
    .faint_text = rgb(92, 98, 108),
    .line = rgb(186, 192, 202),
    .empty = rgb(214, 218, 225),
    .prefill = okabe_ito_blue,
    .decode = okabe_ito_orange,
    .written_now = rgb(122, 62, 0),
    .read_now = rgb(16, 40, 64),
    .cold = rgb(190, 214, 236),
    .hot = rgb(150, 60, 0),
    .not_finite = okabe_ito_purple,
    .negative = okabe_ito_blue,
    .positive = okabe_ito_vermillion,
    .accent = okabe_ito_blue,
    .warning = okabe_ito_vermillion,
    .pointer = rgb(176, 50, 120),
    .series = {okabe_ito_blue, okabe_ito_vermillion, okabe_ito_green, rgb(150, 120, 0),
               okabe_ito_purple, okabe_ito_orange, okabe_ito_sky, rgb(80, 80, 80)},
};

}  // namespace kvtape
