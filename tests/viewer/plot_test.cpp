// Axes, ticks and the points of curves.
#include "viewer/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kvtape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Axis, MapsTheEndsAndBack) {
    const Axis linear{0, 50, false, 200, 100};  // upwards on the screen
    EXPECT_DOUBLE_EQ(linear.pixel(0), 200);
    EXPECT_DOUBLE_EQ(linear.pixel(50), 100);
    EXPECT_DOUBLE_EQ(linear.pixel(25), 150);
    EXPECT_DOUBLE_EQ(linear.value(150), 25);
    const Axis log{1, 10000, true, 0, 400};
    EXPECT_NEAR(log.pixel(1), 0, 1e-9);
    EXPECT_NEAR(log.pixel(10), 100, 1e-9);
    EXPECT_NEAR(log.pixel(10000), 400, 1e-9);
    EXPECT_NEAR(log.value(300), 1000, 1e-9);
}

TEST(Axis, WhatIsNotANumberHasNoPlace) {
    Axis axis;
    EXPECT_TRUE(axis.shows(0));
    EXPECT_FALSE(axis.shows(nan));
    EXPECT_FALSE(axis.shows(-inf));
    axis.log = true;
    EXPECT_FALSE(axis.shows(0));
    EXPECT_TRUE(axis.shows(1e-300));
}

// One NaN or infinity must not blank the plot.
TEST(Axis, GoesAroundTheFiniteValues) {
    Extent extent;
    extent.add(std::vector<double>{1, 2, nan, inf, 0.5, 0, -3});
    const Axis linear = axis_around(extent, false);
    EXPECT_EQ(linear.low, 0);
    EXPECT_GT(linear.high, 2);
    EXPECT_LT(linear.high, 2.5);
    const Axis log = axis_around(extent, true);
    EXPECT_GT(log.low, 0.4);
    EXPECT_LT(log.low, 0.5);
    EXPECT_GT(log.high, 2);
}

TEST(Axis, ExistsWithoutValues) {
    Extent nothing;
    nothing.add(nan);
    Extent zero;
    zero.add(0.0);
    for (const Extent& extent : {nothing, zero}) {
        for (const bool log : {false, true}) {
            const Axis axis = axis_around(extent, log);
            EXPECT_LT(axis.low, axis.high);
            EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high));
            EXPECT_TRUE(!log || axis.low > 0);
        }
    }
}

TEST(Ticks, AreRoundAndApart) {
    EXPECT_EQ(ticks({0, 100, false, 0, 100}, 20), (std::vector<double>{0, 20, 40, 60, 80, 100}));
    EXPECT_EQ(ticks({0, 100, false, 100, 0}, 21), (std::vector<double>{0, 50, 100}));
    EXPECT_EQ(ticks({-0.5, 3.5, false, 0, 1000}, 10, 1), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_FALSE(std::signbit(ticks({-0.5, 3.5, false, 0, 100}, 10, 1)[0]));  // no "-0"
    EXPECT_EQ(ticks({1, 10000, true, 0, 400}, 90), (std::vector<double>{1, 10, 100, 1000, 10000}));
    EXPECT_EQ(ticks({1, 100, true, 0, 400}, 60), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
    EXPECT_EQ(ticks({1, 1e9, true, 0, 90}, 25), (std::vector<double>{1, 1e3, 1e6, 1e9}));
}

TEST(Ticks, NeverCollideWhateverTheRange) {
    for (double high = 1e-9; high < 1e19; high *= 3.7) {
        for (const bool log : {false, true}) {
            for (const double low : {high / 1e7, high / 20, high / 1.3}) {
                const Axis axis{low, high, log, 0, 137};
                const std::vector<double> at = ticks(axis, 16);
                EXPECT_GE(at.size(), 1u) << low << " to " << high << (log ? " log" : "");
                for (std::size_t i = 0; i < at.size(); ++i) {
                    EXPECT_GE(at[i], low * (1 - 1e-9));
                    EXPECT_LE(at[i], high * (1 + 1e-9));
                    if (i > 0) {
                        EXPECT_GE(axis.pixel(at[i]) - axis.pixel(at[i - 1]), 15.9);
                    }
                }
            }
        }
    }
}

TEST(Ticks, AreWrittenShort) {
    EXPECT_EQ(tick_text(0), "0");
    EXPECT_EQ(tick_text(0, "s"), "0");
    EXPECT_EQ(tick_text(20), "20");
    EXPECT_EQ(tick_text(2500), "2.5 k");
    EXPECT_EQ(tick_text(40e9), "40 G");
    EXPECT_EQ(tick_text(0.25), "0.25");
    EXPECT_EQ(tick_text(5e8, "B"), "500 MB");
    EXPECT_EQ(tick_text(0.02, "s"), "20 ms");
    EXPECT_EQ(tick_text(5e-7, "s"), "500 ns");
    EXPECT_EQ(tick_text(1, "s"), "1 s");
}

std::vector<double> counted(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

TEST(Curve, HasAPointPerStepWhereThereIsRoom) {
    const auto lines = curve(counted(5), 0, {0, 4, false, 0, 100}, {0, 4, false, 100, 0}, 1);
    ASSERT_EQ(lines.size(), 1u);
    ASSERT_EQ(lines[0].size(), 5u);
    EXPECT_DOUBLE_EQ(lines[0][3].x, 75);
    EXPECT_DOUBLE_EQ(lines[0][3].y, 25);
}

TEST(Curve, HasTwoPointsPerColumnAndKeepsPeaks) {
    std::vector<double> values(100000, 1);
    values[54321] = 9;
    values[77777] = 0;
    const Axis x{0, 100000, false, 0, 250}, y{0, 10, false, 100, 0};
    const auto lines = curve(values, 0, x, y, 1);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_LE(lines[0].size(), 2 * 251u);
    EXPECT_GE(lines[0].size(), 250u);
    const auto higher = [](const Point& a, const Point& b) { return a.y < b.y; };
    const Point peak = *std::min_element(lines[0].begin(), lines[0].end(), higher);
    const Point dip = *std::max_element(lines[0].begin(), lines[0].end(), higher);
    EXPECT_DOUBLE_EQ(peak.y, 10);
    EXPECT_DOUBLE_EQ(peak.x, x.pixel(54321));
    EXPECT_DOUBLE_EQ(dip.y, 100);
    EXPECT_DOUBLE_EQ(lines[0].back().x, x.pixel(99999));
    EXPECT_TRUE(std::is_sorted(lines[0].begin(), lines[0].end(),
                               [](const Point& a, const Point& b) { return a.x < b.x; }));
}

TEST(Curve, ThinsOutOnlyTheDenseEndOfALogarithmicAxis) {
    const Axis x{1, 4096, true, 0, 300}, y{0, 4096, false, 100, 0};
    const auto lines = curve(counted(4096), 1, x, y, 1);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_DOUBLE_EQ(lines[0][1].x, x.pixel(2));  // step 1 has a column of its own
    EXPECT_LE(lines[0].size(), 600u);
}

TEST(Curve, BreaksWhereThereIsNoValue) {
    const std::vector<double> values = {nan, 1, 2, nan, nan, 3, 0};
    const Axis x{0, 6, false, 0, 600};
    const auto lines = curve(values, 0, x, {0, 4, false, 100, 0}, 1);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].size(), 2u);
    EXPECT_EQ(lines[1].size(), 2u);
    const auto log = curve(values, 0, x, {1, 4, true, 100, 0}, 1);
    ASSERT_EQ(log.size(), 2u);
    EXPECT_EQ(log[1].size(), 1u);  // 0 has no place
    EXPECT_TRUE(curve({}, 0, x, x, 1).empty());
}

double length_of(const std::vector<Polyline>& pieces) {
    double length = 0;
    for (const Polyline& piece : pieces) {
        for (std::size_t i = 1; i < piece.size(); ++i) {
            length += std::hypot(piece[i].x - piece[i - 1].x, piece[i].y - piece[i - 1].y);
        }
    }
    return length;
}

TEST(Dashes, ShareALineEvenly) {
    const Polyline line = {{0, 0}, {35, 0}, {35, 85}};  // 120 long, with a corner in a dash
    EXPECT_NEAR(length_of(dashes(line, 10, 1)), 120, 1e-9);
    const auto second = dashes(line, 10, 2);
    EXPECT_EQ(second.size(), 6u);
    EXPECT_NEAR(length_of(second), 60, 1e-9);
    EXPECT_DOUBLE_EQ(second[0].front().x, 10);
    EXPECT_EQ(second[1].size(), 3u);  // goes around the corner
    EXPECT_NEAR(length_of(dashes(line, 10, 3)), 40, 1e-9);
    EXPECT_TRUE(dashes({}, 10, 1).empty());
}

TEST(Curves, CrossABoxAlsoBetweenTheirPoints) {
    const PixelBox box{10, 10, 20, 20};
    EXPECT_TRUE(crosses({{{0, 15}, {30, 15}}}, box));
    EXPECT_TRUE(crosses({{{0, 0}, {30, 30}}}, box));
    EXPECT_TRUE(crosses({{{14, 0}, {15, 90}}}, box));   // steeply through
    EXPECT_TRUE(crosses({{{15, 0}, {15, 90}}}, box));   // straight down
    EXPECT_TRUE(crosses({{{15, 15}}}, box));            // a single step
    EXPECT_FALSE(crosses({{{0, 5}, {30, 9}}}, box));    // above
    EXPECT_FALSE(crosses({{{0, 25}, {30, 21}}}, box));  // below
    EXPECT_FALSE(crosses({{{21, 0}, {30, 30}}}, box));  // to the right
    EXPECT_FALSE(crosses({{{0, 30}, {12, 21}}}, box));  // ends under it
    EXPECT_FALSE(crosses({{{5, 5}}}, box));
    EXPECT_FALSE(crosses({}, box));
}

TEST(Curves, CoincideIfNoPointDiffers) {
    const std::vector<Polyline> a = {{{0, 0}, {10, 5}}};
    EXPECT_TRUE(coincide(a, {{{0, 0.5}, {10, 5}}}, 0.75));
    EXPECT_FALSE(coincide(a, {{{0, 0}, {10, 6}}}, 0.75));
    EXPECT_FALSE(coincide(a, {{{0, 0}}}, 0.75));
    EXPECT_FALSE(coincide(a, {}, 0.75));
}

}  // namespace
}  // namespace kvtape
