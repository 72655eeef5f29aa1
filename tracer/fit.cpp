#include "tracer/fit.h"

#include <cmath>
#include <vector>

#include "core/check.h"

namespace kvtape {

std::optional<PowerFit> fit_power(std::span<const double> x, std::span<const double> y) {
    KVTAPE_CHECK(x.size(), ==, y.size());
    struct Logs {
        double x, y;
    };
    std::vector<Logs> logs;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const bool positive = x[i] > 0 && y[i] > 0;
        if (positive && std::isfinite(x[i]) && std::isfinite(y[i])) {
            logs.push_back({std::log(x[i]), std::log(y[i])});
        }
    }
    if (logs.size() < 2) return std::nullopt;
    const auto points = static_cast<double>(logs.size());
    double mean_x = 0, mean_y = 0;
    for (const Logs& log : logs) {
        mean_x += log.x / points;
        mean_y += log.y / points;
    }
    // Distances from the means: sums of squares would lose digits where all x are close together.
    double xx = 0, xy = 0;
    for (const Logs& log : logs) {
        xx += (log.x - mean_x) * (log.x - mean_x);
        xy += (log.x - mean_x) * (log.y - mean_y);
    }
    if (!(xx > 1e-18)) return std::nullopt;
    const double exponent = xy / xx;
    return PowerFit{exponent, std::exp(mean_y - exponent * mean_x),
                    static_cast<std::int64_t>(logs.size())};
}

}  // namespace kvtape
