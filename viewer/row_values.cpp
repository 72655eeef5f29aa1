#include "viewer/row_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/number_format.h"

namespace kvtape {

std::vector<float> row_values(const LaneHistory& lane, const TrackId& track, const Cell& cell) {
    if (!cell.filled || !lane.has_row_values()) return {};
    const KvDtype dtype = lane.lane().kv_cache_dtype;
    const std::int64_t head_dim = lane.shape().head_dim;
    const StoredRows* const rows = lane.listed_row(cell.written_step, cell.sequence, track.layer,
                                                   track.kv_head, track.kind, cell.position);
    if (rows == nullptr) return {};
    const std::int64_t begin =
        (cell.position - rows->position_begin) * head_dim * bytes_per_element(dtype);
    std::vector<float> values(static_cast<std::size_t>(head_dim));
    decode_row(dtype, reinterpret_cast<const std::byte*>(rows->codes.data() + begin), head_dim,
               lane.lane().kv_scale, values.data());
    return values;
}

float ValueRange::largest() const {
    return std::max(std::abs(low), std::abs(high));
}

ValueRange value_range(std::span<const float> values) {
    ValueRange range;
    for (const float value : values) {
        if (std::isnan(value)) {
            ++range.nan;
        } else if (std::isinf(value)) {
            ++range.infinite;
        } else {
            range.low = range.finite == 0 ? value : std::min(range.low, value);
            range.high = range.finite == 0 ? value : std::max(range.high, value);
            ++range.finite;
        }
    }
    return range;
}

Rgba value_colour(float value, float largest, const Palette& palette) {
    if (!std::isfinite(value)) return palette.not_finite;
    if (largest == 0) return palette.empty;
    return mix(palette.empty, value < 0 ? palette.negative : palette.positive,
               static_cast<double>(std::abs(value) / largest));
}

ValueGrid value_grid(std::int64_t count, double width, double height, double text_width,
                     double text_height) {
    const auto fit = [](double room, double size) {
        return std::max<std::int64_t>(static_cast<std::int64_t>(room / size), 1);
    };
    const auto rows_of = [count](std::int64_t columns) { return (count + columns - 1) / columns; };
    // Columns in whole parts of the count, if there are any, so that the last row is full.
    const auto rounded = [count](std::int64_t most) {
        for (std::int64_t columns = most; 2 * columns > most; --columns) {
            if (count % columns == 0) return columns;
        }
        return most;
    };
    ValueGrid grid;
    grid.columns = rounded(std::min(fit(width, text_width), count));
    grid.rows = rows_of(grid.columns);
    grid.texts = text_width <= width && static_cast<double>(grid.rows) * text_height <= height;
    if (!grid.texts) {
        const double side = std::sqrt(width * height / static_cast<double>(count));
        grid.columns = rounded(std::min(fit(width, side), count));
        grid.rows = rows_of(grid.columns);
    }
    return grid;
}

}  // namespace kvtape
