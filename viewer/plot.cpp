#include "viewer/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace kvtape {
namespace {

// Ticks of a linear axis lie 1, 2 or 5 times a power of ten apart.
double round_distance(double least) {
    const double ten = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * ten >= least) return factor * ten;
    }
    return 10 * ten;
}

std::vector<double> linear_ticks(const Axis& axis, double apart, double finest) {
    const double pixels = std::abs(axis.to - axis.from);
    const double distance =
        round_distance(std::max((axis.high - axis.low) * apart / pixels, finest));
    std::vector<double> values;
    // Counted, not added up, so that 0 is 0 and rounding does not grow.
    const double first = std::ceil(axis.low / distance);
    for (double i = 0; (first + i) * distance <= axis.high; ++i) {
        values.push_back((first + i) * distance + 0.0);  // + 0.0 makes -0 a plain 0
    }
    return values;
}

// Powers of ten, every k-th where they are close, with 2 and 5 between them where they are far.
std::vector<double> log_ticks(const Axis& axis, double apart) {
    const double first = std::log10(axis.low), last = std::log10(axis.high);
    const double decade = std::abs(axis.to - axis.from) / (last - first);  // in pixels
    const double every = std::max(1.0, std::ceil(apart / decade));
    const bool between = decade * std::log10(2) >= apart;
    std::vector<double> values;
    for (double power = std::floor(first / every) * every; power <= last; power += every) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = factor * std::pow(10, power);
            if (factor > 1 && !between) break;
            if (value >= axis.low && value <= axis.high) values.push_back(value);
        }
    }
    return values;
}

double distance(const Point& a, const Point& b) {
    return std::hypot(a.x - b.x, a.y - b.y);
}

}  // namespace

double Axis::pixel(double value) const {
    const double share = log ? std::log(value / low) / std::log(high / low)  //
                             : (value - low) / (high - low);
    return from + share * (to - from);
}

double Axis::value(double pixel) const {
    const double share = (pixel - from) / (to - from);
    return log ? low * std::pow(high / low, share) : low + share * (high - low);
}

bool Axis::shows(double value) const {
    return std::isfinite(value) && (!log || value > 0);
}

void Extent::add(double value) {
    if (!std::isfinite(value)) return;
    high = std::max(high, value);
    if (value > 0) least_positive = std::min(least_positive, value);
}

Axis axis_around(const Extent& extent, bool log) {
    constexpr double margin = 1.08;
    const bool none = !(extent.high > 0);
    Axis axis;
    axis.log = log;
    axis.low = !log ? 0 : none ? 1 : extent.least_positive / margin;
    axis.high = none ? axis.low + 1 : extent.high * margin;
    return axis;
}

std::vector<double> ticks(const Axis& axis, double apart, double finest) {
    if (axis.from == axis.to) return {};
    std::vector<double> values;
    if (axis.log) values = log_ticks(axis, apart);
    if (values.size() < 2) values = linear_ticks(axis, apart, finest);
    // Round distances at the narrow end of a logarithmic axis may still be too close.
    std::vector<double> kept;
    for (const double value : values) {
        if (!axis.shows(value)) continue;
        const bool clear =
            kept.empty() || std::abs(axis.pixel(value) - axis.pixel(kept.back())) >= apart * 0.999;
        if (clear) kept.push_back(value);
    }
    return kept;
}

std::string tick_text(double value, const char* unit) {
    static constexpr std::array prefixes = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 3;
    while (std::abs(value) >= 999.5 && prefix + 1 < prefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    // Fractions of a thing without a unit (FLOPs per byte) are written out.
    while (*unit != '\0' && value != 0 && std::abs(value) < 0.9995 && prefix > 0) {
        value *= 1000;
        --prefix;
    }
    if (value == 0) return "0";
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", value);
    const std::string suffix = std::string(prefixes[prefix]) + unit;
    return suffix.empty() ? number : number + (" " + suffix);
}

std::vector<Polyline> curve(std::span<const double> values, double first_x, const Axis& x,
                            const Axis& y, double column) {
    std::vector<Polyline> lines;
    Polyline line;
    const auto end_line = [&] {
        if (!line.empty()) lines.push_back(std::move(line));
        line.clear();
    };
    const auto point = [&](std::size_t i) {
        return Point{x.pixel(first_x + static_cast<double>(i)), y.pixel(values[i])};
    };
    for (std::size_t begin = 0; begin < values.size();) {
        if (!y.shows(values[begin])) {
            end_line();
            ++begin;
            continue;
        }
        // The steps of the column that begins here, and the extremes among them.
        const double left = x.pixel(first_x + static_cast<double>(begin));
        const double past = x.value(left + column) - first_x;
        std::size_t least = begin, most = begin, end = begin + 1;
        for (; end < values.size() && static_cast<double>(end) < past && y.shows(values[end]);
             ++end) {
            if (values[end] < values[least]) least = end;
            if (values[end] > values[most]) most = end;
        }
        line.push_back(point(std::min(least, most)));
        if (least != most) line.push_back(point(std::max(least, most)));
        // The last step is where the curve ends, so it is always there.
        const bool last = end == values.size();
        if (last && std::max(least, most) + 1 != end) line.push_back(point(end - 1));
        begin = end;
    }
    end_line();
    return lines;
}

std::vector<Polyline> dashes(const Polyline& line, double length, std::int64_t every) {
    std::vector<Polyline> pieces;
    if (line.empty()) return pieces;
    Polyline piece = {line.front()};
    double left = length;  // of the piece
    std::int64_t number = 1;
    const auto end_piece = [&] {
        if (number % every == 0 && piece.size() > 1) pieces.push_back(piece);
        piece = {piece.back()};
        left = length;
        ++number;
    };
    for (std::size_t i = 1; i < line.size(); ++i) {
        Point at = line[i - 1];
        for (double rest = distance(at, line[i]); rest > 0;) {
            const double go = std::min(left, rest);
            at = {at.x + (line[i].x - at.x) * go / rest, at.y + (line[i].y - at.y) * go / rest};
            piece.push_back(at);
            rest -= go;
            left -= go;
            if (!(left > 0)) end_piece();
        }
    }
    end_piece();
    return pieces;
}

bool crosses(const std::vector<Polyline>& lines, const PixelBox& box) {
    const auto inside = [&](double y) { return y >= box.top && y <= box.bottom; };
    for (const Polyline& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const Point a = line[i > 0 ? i - 1 : 0], b = line[i];  // x ascends
            const double from = std::max(a.x, box.left), to = std::min(b.x, box.right);
            if (from > to) continue;
            const double slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0;
            const double y_from = a.y + (from - a.x) * slope;
            const double y_to = b.x > a.x ? a.y + (to - a.x) * slope : b.y;
            if (inside(y_from) || inside(y_to)) return true;
            if ((y_from < box.top) != (y_to < box.top)) return true;  // from one side to the other
        }
    }
    return false;
}

bool coincide(const std::vector<Polyline>& a, const std::vector<Polyline>& b, double pixels) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [&](const Polyline& p, const Polyline& q) {
            return std::equal(
                p.begin(), p.end(), q.begin(), q.end(),
                [&](const Point& s, const Point& t) { return distance(s, t) <= pixels; });
        });
}

}  // namespace kvtape
