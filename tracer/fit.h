// How fast a cost grows: the exponent b of y = a x^b.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace kvtape {

struct PowerFit {
    double exponent;      // b
    double factor;        // a
    std::int64_t points;  // that the line was drawn through
};

// The least-squares line through the points (log x, log y). Points that have no logarithm are left
// out. Nothing if fewer than two different x remain.
std::optional<PowerFit> fit_power(std::span<const double> x, std::span<const double> y);

}  // namespace kvtape
