#include "viewer/cell_colours.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace kvtape {
namespace {

// How much of the colour of being read goes over the colour of the cell.
constexpr double read_tint = 0.6;
// Of one written in this step, which is bright already.
constexpr double read_tint_on_new = 0.85;

// 0 for 1 read, 1 for the most there are: counts differ by orders of magnitude.
double on_log_scale(std::int64_t value, std::int64_t most) {
    if (value <= 1 || most <= 1) return 0;
    return std::log(static_cast<double>(value)) / std::log(static_cast<double>(most));
}

// The largest relative error that storing rows of `layer` in `step` made.
float dtype_error(const LaneHistory& lane, std::int64_t step, std::int32_t layer) {
    for (const StoreLoss& loss : lane.step(step).losses) {
        if (loss.layer == layer) return loss.worst_relative_error;
    }
    return 0;
}

// float32 keeps 24 bits, so an error below 2^-24 is none; one of 1/8 is the worst of fp8_e5m2.
double error_on_scale(float error) {
    if (!(error > 0)) return 0;
    return std::clamp((std::log2(static_cast<double>(error)) + 24) / 21, 0.0, 1.0);
}

}  // namespace

const char* name(ColourBy by) {
    switch (by) {
        case ColourBy::phase:
            return "phase";
        case ColourBy::age:
            return "age";
        case ColourBy::reads:
            return "number of reads";
        case ColourBy::dtype_error:
            return "dtype error";
        case ColourBy::sequence:
            return "sequence";
    }
    return "unknown";
}

void colour_cells(const LaneHistory& lane, const Playhead& at, std::int32_t layer, ColourBy by,
                  const Palette& palette, std::span<const Cell> cells, std::span<Rgba> colours) {
    KVTAPE_CHECK(cells.size(), ==, colours.size());
    const double written = share_written(at.within);
    const double read = share_read(at.within);
    // Reading sweeps from position 0 to the last row that is read.
    std::int64_t last_read = 0, most_reads = 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!cells[i].filled) continue;
        if (cells[i].read_now > 0) last_read = static_cast<std::int64_t>(i) + 1;
        most_reads = std::max(most_reads, cells[i].times_read);
    }
    const auto swept = static_cast<std::int64_t>(std::ceil(read * static_cast<double>(last_read)));

    const auto at_rest = [&](const Cell& cell) {
        switch (by) {
            case ColourBy::phase:
                break;
            case ColourBy::age:
                return mix(palette.hot, palette.cold,
                           static_cast<double>(at.step - cell.written_step) /
                               static_cast<double>(std::max<std::int64_t>(at.step, 1)));
            case ColourBy::reads:
                return mix(palette.cold, palette.hot, on_log_scale(cell.times_read, most_reads));
            case ColourBy::dtype_error: {
                const float error = dtype_error(lane, cell.written_step, layer);
                if (!std::isfinite(error)) return palette.not_finite;
                return mix(palette.cold, palette.hot, error_on_scale(error));
            }
            case ColourBy::sequence:
                return palette.series[static_cast<std::size_t>(cell.sequence) % 8];
        }
        return cell.written_phase == Phase::prefill ? palette.prefill : palette.decode;
    };

    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell& cell = cells[i];
        const bool there = cell.filled && (!cell.written_now || written > 0);
        if (!there) {
            colours[i] = palette.empty;
            continue;
        }
        Rgba colour = cell.written_now ? palette.written_now : at_rest(cell);
        // All rows of a step light up together, as they are written in one pass.
        if (cell.written_now) colour = mix(palette.empty, colour, 0.25 + 0.75 * written);
        // The sweep ends with the step: one that is done shows what it wrote.
        const bool read_by_now = cell.read_now > 0 && static_cast<std::int64_t>(i) < swept;
        if (read_by_now && read < 1) {
            colour = mix(colour, palette.read_now, cell.written_now ? read_tint_on_new : read_tint);
        }
        colours[i] = colour;
    }
}

}  // namespace kvtape
