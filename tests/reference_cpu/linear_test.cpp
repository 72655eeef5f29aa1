// PackedLinear against the loop that defines it. The loop is an independent oracle: it knows no
// panels, no tiles and no vectors, and equality is equality of bits.
#include "reference_cpu/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "core/check.h"
#include "reference_cpu/linear_impl.h"

namespace kvtape {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Values of many magnitudes and both signs, so that nearly every order of summation rounds in a
// different way; only the raw bits of the generator are used, which are the same everywhere.
std::vector<float> random_values(std::int64_t count, std::uint32_t seed) {
    std::mt19937 bits(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        const auto mantissa = static_cast<float>(static_cast<std::int32_t>(bits()));
        value = std::ldexp(mantissa, -31 - static_cast<int>(bits() % 8));
    }
    return values;
}

struct Problem {
    std::int64_t rows, outputs, inputs;
    std::vector<float> x, w, expected;

    Problem(std::int64_t rows_, std::int64_t outputs_, std::int64_t inputs_, std::uint32_t seed = 1)
        : rows(rows_),
          outputs(outputs_),
          inputs(inputs_),
          x(random_values(rows * inputs, seed)),
          w(random_values(outputs * inputs, seed + 1)) {
        compute_expected();
    }

    void compute_expected() {
        expected.resize(static_cast<std::size_t>(rows * outputs));
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t o = 0; o < outputs; ++o) {
                float sum = 0;
                for (std::int64_t k = 0; k < inputs; ++k) {
                    sum = std::fma(x[r * inputs + k], w[o * inputs + k], sum);
                }
                expected[r * outputs + o] = sum;
            }
        }
    }
};

bool same_bits(const float* a, const float* b, std::int64_t count) {
    return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

// The result of multiply, with a guard band on both sides of y that must come back untouched.
std::vector<float> product(const PackedLinear<float>& linear, const float* x, std::int64_t rows) {
    constexpr std::int64_t guard = 128;
    const std::int64_t count = rows * linear.outputs();
    const std::vector<float> before(static_cast<std::size_t>(count + 2 * guard), nan);
    std::vector<float> y = before;
    linear.multiply(x, rows, y.data() + guard);
    EXPECT_TRUE(same_bits(y.data(), before.data(), guard)) << "written before y";
    EXPECT_TRUE(same_bits(y.data() + guard + count, before.data(), guard)) << "written behind y";
    return {y.begin() + guard, y.begin() + guard + count};
}

void expect_product(const Problem& problem, const std::vector<float>& y) {
    ASSERT_EQ(y.size(), problem.expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_TRUE(same_bits(&y[i], &problem.expected[i], 1))
            << "row " << i / problem.outputs << " of " << problem.rows << ", output "
            << i % problem.outputs << " of " << problem.outputs << ", inputs " << problem.inputs
            << ": " << y[i] << " instead of " << problem.expected[i];
    }
}

TEST(Linear, HasTheBitsOfTheDefiningLoopForAllSmallShapes) {
    for (std::int64_t outputs = 1; outputs <= 70; ++outputs) {
        for (std::int64_t inputs = 1; inputs <= 40; inputs += inputs < 10 ? 1 : 5) {
            const Problem problem(13, outputs, inputs, static_cast<std::uint32_t>(outputs));
            const PackedLinear<float> linear(problem.w.data(), outputs, inputs);
            expect_product(problem, product(linear, problem.x.data(), problem.rows));
        }
    }
}

TEST(Linear, HasTheBitsOfTheDefiningLoopForEveryNumberOfRows) {
    // 4 * 64 + 1 outputs: every way to put panels side by side, and a last panel of one output.
    for (std::int64_t rows = 1; rows <= 110; ++rows) {
        const Problem problem(rows, rows <= 13 ? 257 : 33, 24, static_cast<std::uint32_t>(rows));
        const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
        expect_product(problem, product(linear, problem.x.data(), rows));
    }
}

TEST(Linear, HasTheBitsOfTheDefiningLoopWhenSumsArePutDownAndTakenUp) {
    // More inputs than one block: 1024, 1024 and 5; full panels and a narrow one.
    for (const std::int64_t rows : {1, 2, 3, 5, 6, 100}) {
        const Problem problem(rows, 70, 2053);
        const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
        expect_product(problem, product(linear, problem.x.data(), rows));
    }
}

TEST(Linear, OrderMattersForTheseValues) {
    // The oracle can tell: summing backwards, or rounding the product first, gives other bits.
    const Problem problem(1, 64, 40);
    int backwards_differs = 0, unfused_differs = 0;
    for (std::int64_t o = 0; o < problem.outputs; ++o) {
        const float* w = &problem.w[o * problem.inputs];
        float backwards = 0, unfused = 0;
        for (std::int64_t k = 0; k < problem.inputs; ++k) {
            const std::int64_t last = problem.inputs - 1 - k;
            backwards = std::fma(problem.x[last], w[last], backwards);
            const volatile float rounded = problem.x[k] * w[k];
            unfused += rounded;
        }
        backwards_differs += backwards != problem.expected[o];
        unfused_differs += unfused != problem.expected[o];
    }
    EXPECT_GT(backwards_differs, 16);
    EXPECT_GT(unfused_differs, 16);
}

TEST(Linear, MultiplyAndAddRoundOnlyOnce) {
    // (1 + e)(1 - e) - 1 = -e^2 exactly; a product rounded on its own is 1 and leaves 0.
    const float e = std::ldexp(1.0f, -13);
    const std::vector<float> x = {-1.0f, 1.0f + e};
    const std::vector<float> w = {1.0f, 1.0f - e};
    const PackedLinear<float> linear(w.data(), 1, 2);
    EXPECT_EQ(product(linear, x.data(), 1)[0], -e * e);
}

TEST(Linear, ARowHasTheSameBitsInAnyCompany) {
    const Problem problem(512, 96, 130);
    const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
    expect_product(problem, product(linear, problem.x.data(), problem.rows));
    std::mt19937 bits(7);
    for (const std::int64_t chunk : {1, 2, 3, 4, 5, 7, 64, 97, 511, 0 /* any */}) {
        std::vector<float> y;
        for (std::int64_t row = 0; row < problem.rows;) {
            const std::int64_t wanted = chunk != 0 ? chunk : 1 + bits() % 40;
            const std::int64_t rows = std::min(wanted, problem.rows - row);
            const auto part = product(linear, &problem.x[row * problem.inputs], rows);
            y.insert(y.end(), part.begin(), part.end());
            row += rows;
        }
        expect_product(problem, y);
    }
}

TEST(Linear, APanelRangeWritesItsOutputsAndNoOthers) {
    const Problem problem(7, 333, 20);
    const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
    const std::int64_t panel_outputs = linear_detail::P<float>;
    const std::int64_t panels = linear.panels();
    ASSERT_EQ(panels, (problem.outputs + panel_outputs - 1) / panel_outputs);
    for (const std::int64_t rows : {1, 2, 3, 6, 7}) {
        for (std::int64_t begin = 0; begin <= panels; ++begin) {
            for (std::int64_t end = begin; end <= panels; ++end) {
                std::vector<float> y(problem.expected.size(), nan);
                linear.multiply(problem.x.data(), rows, y.data(), begin, end);
                for (std::size_t i = 0; i < y.size(); ++i) {
                    const std::int64_t panel = i % problem.outputs / panel_outputs;
                    const bool wanted = i / problem.outputs < static_cast<std::size_t>(rows) &&
                                        panel >= begin && panel < end;
                    const float expected = wanted ? problem.expected[i] : nan;
                    ASSERT_TRUE(same_bits(&y[i], &expected, 1))
                        << rows << " rows, panels " << begin << " to " << end << ", element " << i;
                }
            }
        }
    }
}

TEST(Linear, ThreadsShareAProductByPanels) {
    const Problem problem(33, 500, 77);
    const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
    for (const std::int64_t threads : {2, 3, 5, 40}) {
        std::vector<float> y(problem.expected.size(), nan);
        std::vector<std::thread> team;
        for (std::int64_t t = 0; t < threads; ++t) {
            const std::int64_t begin = linear.panels() * t / threads;
            const std::int64_t end = linear.panels() * (t + 1) / threads;
            team.emplace_back([&, begin, end] {
                linear.multiply(problem.x.data(), problem.rows, y.data(), begin, end);
            });
        }
        for (std::thread& member : team) member.join();
        expect_product(problem, y);
    }
}

TEST(Linear, NaNAndInfinityReachTheirOutputsOnly) {
    for (const std::int64_t rows : {1, 2, 3, 4, 6, 9}) {
        Problem problem(rows, 71, 30);
        problem.w[70 * problem.inputs + 3] = nan;  // the only output of the last panel's last lane
        problem.w[5 * problem.inputs + 29] = infinity;
        problem.x[0 * problem.inputs + 8] = rows == 1 ? 1.0f : -infinity;  // all of row 0
        problem.compute_expected();
        const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
        const std::vector<float> y = product(linear, problem.x.data(), rows);
        for (std::size_t i = 0; i < y.size(); ++i) {
            ASSERT_EQ(std::isnan(y[i]), std::isnan(problem.expected[i])) << "element " << i;
            if (!std::isnan(y[i])) {
                ASSERT_TRUE(same_bits(&y[i], &problem.expected[i], 1)) << "element " << i;
            }
        }
        EXPECT_TRUE(std::isnan(y[70]));
        EXPECT_TRUE(std::isinf(y[5]) || std::isnan(y[5]));
        EXPECT_TRUE(std::isfinite(y[rows == 1 ? 6 : 71 + 6]));
    }
}

TEST(Linear, NoRowsIsNoWork) {
    const Problem problem(1, 20, 5);
    const PackedLinear<float> linear(problem.w.data(), problem.outputs, problem.inputs);
    EXPECT_TRUE(product(linear, problem.x.data(), 0).empty());
}

TEST(Linear, RefusesShapesAndRangesThatDoNotExist) {
    const std::vector<float> w(40, 1.0f);
    EXPECT_THROW(PackedLinear<float>(w.data(), 0, 4), ContractViolation);
    EXPECT_THROW(PackedLinear<float>(w.data(), 4, 0), ContractViolation);
    const PackedLinear<float> linear(w.data(), 4, 10);
    std::vector<float> y(4);
    EXPECT_THROW(linear.multiply(w.data(), -1, y.data()), ContractViolation);
    EXPECT_THROW(linear.multiply(w.data(), 1, y.data(), -1, 1), ContractViolation);
    EXPECT_THROW(linear.multiply(w.data(), 1, y.data(), 0, 2), ContractViolation);
}

TEST(Linear, CountsPanelsAndBytesWithTheirPadding) {
    const std::vector<float> w(static_cast<std::size_t>(65) * 3, 1.0f);
    const PackedLinear<float> linear(w.data(), 65, 3);
    EXPECT_EQ(linear.bytes(), linear.panels() * linear_detail::P<float> * 3 * 4);
    EXPECT_EQ(linear.outputs_before(0), 0);
    EXPECT_EQ(linear.outputs_before(1), linear_detail::P<float>);
    EXPECT_EQ(linear.outputs_before(linear.panels()), 65);
}

// A scalar that counts; one per test run, so that a static tally is enough.
struct Tally {
    float v = 0;
    static inline std::int64_t multiplies = 0, adds = 0;

    Tally() = default;
    explicit Tally(float value) : v(value) {}
};
Tally operator*(const Tally& a, const Tally& b) {
    ++Tally::multiplies;
    return Tally(a.v * b.v);
}
Tally operator+(const Tally& a, const Tally& b) {
    ++Tally::adds;
    return Tally(a.v + b.v);
}

TEST(Linear, ACountingScalarCountsTwoFlopsPerWeightAndRow) {
    for (const std::int64_t rows : {1, 2, 3, 6, 7, 100}) {
        for (const auto& [outputs, inputs] :
             {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {17, 16}, {64, 9}, {3, 1500}}) {
            const Problem problem(rows, outputs, inputs);
            const PackedLinear<Tally> linear(problem.w.data(), outputs, inputs);
            ASSERT_EQ(linear.panels(), outputs);
            std::vector<Tally> x(problem.x.begin(), problem.x.end());
            std::vector<Tally> y(problem.expected.size());
            Tally::multiplies = Tally::adds = 0;
            linear.multiply(x.data(), rows, y.data());
            EXPECT_EQ(Tally::multiplies, rows * outputs * inputs);
            EXPECT_EQ(Tally::adds, rows * outputs * inputs);
            float sum = 0;  // the same sum in the same order, unfused
            for (std::int64_t k = 0; k < inputs; ++k) {
                const volatile float rounded = problem.x[k] * problem.w[k];
                sum += rounded;
            }
            EXPECT_EQ(y[0].v, sum);
        }
    }
}

TEST(HugePages, ABufferIsZeroAlignedAndMoves) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1} << 20}) {
        HugePageBuffer<float> buffer(count);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
        EXPECT_EQ(buffer.size(), count);
        EXPECT_EQ(buffer.bytes(), 4 * count);
        for (const float value : buffer.span()) ASSERT_EQ(value, 0.0f);
        const float* address = buffer.data();
        HugePageBuffer<float> moved = std::move(buffer);
        EXPECT_EQ(moved.data(), address);
        EXPECT_EQ(moved.size(), count);
        EXPECT_EQ(buffer.size(), 0);
        EXPECT_EQ(buffer.data(), nullptr);
    }
    EXPECT_EQ(HugePageBuffer<float>(0).size(), 0);
}

}  // namespace
}  // namespace kvtape
