// Exponents of curves.
#include "tracer/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kvtape {
namespace {

TEST(FitPower, FindsExponentAndFactor) {
    std::vector<double> x, y;
    for (int i = 1; i <= 40; ++i) {
        x.push_back(i);
        y.push_back(3 * std::pow(i, 1.75));
    }
    const auto fit = fit_power(x, y);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->exponent, 1.75, 1e-12);
    EXPECT_NEAR(fit->factor, 3, 1e-9);
    EXPECT_EQ(fit->points, 40);
}

// Least squares, not the line through the ends: (1, 1), (e, e^2), (e^2, e) has slope 1/2.
TEST(FitPower, IsTheLineOfLeastSquares) {
    const double e = std::exp(1.0);
    const auto fit = fit_power(std::vector<double>{1, e, e * e}, std::vector<double>{1, e * e, e});
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->exponent, 0.5, 1e-12);
    EXPECT_NEAR(fit->factor, std::exp(0.5), 1e-12);
}

TEST(FitPower, LeavesOutWhatHasNoLogarithm) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const auto fit = fit_power(std::vector<double>{0, 1, 2, 3, 4, 5},
                               std::vector<double>{7, 1, 4, nan, inf, -25});
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->exponent, 2, 1e-12);
    EXPECT_EQ(fit->points, 2);
}

TEST(FitPower, NeedsTwoDifferentX) {
    EXPECT_FALSE(fit_power({}, {}).has_value());
    EXPECT_FALSE(fit_power(std::vector<double>{2}, std::vector<double>{5}).has_value());
    EXPECT_FALSE(fit_power(std::vector<double>{2, 2}, std::vector<double>{5, 6}).has_value());
}

}  // namespace
}  // namespace kvtape
