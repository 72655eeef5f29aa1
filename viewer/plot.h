// Curves over steps, without a window: axes, their ticks, and as few points as the eye can tell
// apart out of as many steps as there are.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kvtape {

// From values to pixels. On a logarithmic axis all values are above 0.
struct Axis {
    double low = 0, high = 1;  // values at the ends; high > low
    bool log = false;
    double from = 0, to = 1;  // pixels at the ends; upwards on the screen is from > to

    double pixel(double value) const;
    double value(double pixel) const;
    // Whether the value has a place: NaN and infinities have none, nor has 0 on a logarithmic axis.
    bool shows(double value) const;
};

// The smallest and the largest of the values seen. What is not finite is left out.
struct Extent {
    double high = -std::numeric_limits<double>::infinity();
    double least_positive = std::numeric_limits<double>::infinity();

    void add(double value);
    void add(std::span<const double> values) {
        for (const double value : values) add(value);
    }
};

// Linear: from 0 to a little above the largest value. Logarithmic: a little around the positive
// ones. Without any values, from 0 or 1 upwards.
Axis axis_around(const Extent& extent, bool log);

// Round values on the axis, ascending, at least `apart` pixels from each other and not finer than
// `finest` (1 where only whole numbers mean anything).
std::vector<double> ticks(const Axis& axis, double apart, double finest = 0);

// "0", "250 M", "1.5 ms": a decimal prefix, and no more digits than a round value needs.
std::string tick_text(double value, const char* unit = "");

// In pixels.
struct Point {
    double x, y;
};
using Polyline = std::vector<Point>;

// The curve through (first_x + i, values[i]). Where many steps share a column of `column` pixels,
// its smallest and largest value stand for them, so that no peak is lost. Values that have no place
// on the axis break the line.
std::vector<Polyline> curve(std::span<const double> values, double first_x, const Axis& x,
                            const Axis& y, double column);

// The line cut into pieces of `length` pixels, of which every `every`-th is left, from the last of
// the first `every` pieces on. So `every` lines that lie on each other, the k-th of them drawn with
// every = k, are seen in turn.
std::vector<Polyline> dashes(const Polyline& line, double length, std::int64_t every);

// Whether a line goes through the box.
struct PixelBox {
    double left, top, right, bottom;
};
bool crosses(const std::vector<Polyline>& lines, const PixelBox& box);

// Whether both are the same picture: never further apart than `pixels`.
bool coincide(const std::vector<Polyline>& a, const std::vector<Polyline>& b, double pixels);

}  // namespace kvtape
