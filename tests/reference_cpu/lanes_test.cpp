// The order in which the small kernels add. A float sum depends on its order, so each result below
// belongs to a named order, and none of them is wrong.
#include "reference_cpu/lanes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/random.h"
#include "reference_cpu/counted.h"

namespace kvtape {
namespace {

// PC-BD-02: the true sum of these four is 2.
TEST(Lanes, AddInTheOrderThatIsWritten) {
    const std::vector<float> x = {1e8f, 1, -1e8f, 1};
    EXPECT_EQ(((x[0] + x[1]) + x[2]) + x[3], 1.0f);  // left to right
    EXPECT_EQ((x[0] + x[1]) + (x[2] + x[3]), 0.0f);  // neighbours in pairs
    EXPECT_EQ(sum(x.data(), 4), 2.0f);               // kvtape: lane j and lane j + 2 first
    EXPECT_EQ((x[0] + x[2]) + (x[1] + x[3]), 2.0f);
    const std::vector<float> ones(4, 1.0f);
    EXPECT_EQ(dot(x.data(), ones.data(), 4), 2.0f);
}

// The written order once more, without registers: eight partial sums, then a tree.
float dot_as_written(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> lanes;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (i < 8) {
            lanes.push_back(a[i] * b[i]);
        } else {
            lanes[i % 8] = std::fma(a[i], b[i], lanes[i % 8]);
        }
    }
    for (const std::size_t half : {4u, 2u, 1u}) {
        for (std::size_t j = half; j < std::min(lanes.size(), 2 * half); ++j) {
            lanes[j - half] = lanes[j - half] + lanes[j];
        }
        lanes.resize(std::min(lanes.size(), half));
    }
    return lanes[0];
}

TEST(Lanes, DotHasTheSameBitsForEveryLength) {
    Random random(1);
    for (std::size_t n = 1; n <= 70; ++n) {
        for (int repeat = 0; repeat < 20; ++repeat) {
            std::vector<float> a(n + 1), b(n + 1);
            for (float& value : a) value = random.uniform(-1, 1);
            for (float& value : b) value = random.uniform(-1, 1);
            // From the second element on: not at a multiple of a register.
            const float actual = dot(a.data() + 1, b.data() + 1, static_cast<std::int64_t>(n));
            const float expected =
                dot_as_written({a.begin() + 1, a.end()}, {b.begin() + 1, b.end()});
            ASSERT_EQ(std::memcmp(&actual, &expected, sizeof(float)), 0) << "length " << n;

            std::vector<Counted> counted(a.begin(), a.end());
            const Counted slow =
                dot(counted.data() + 1, b.data() + 1, static_cast<std::int64_t>(n));
            ASSERT_EQ(std::memcmp(&slow.value, &expected, sizeof(float)), 0) << "length " << n;
        }
    }
}

TEST(Lanes, SumIsADotProductWithOnes) {
    Random random(2);
    for (std::size_t n = 1; n <= 70; ++n) {
        std::vector<float> a(n);
        for (float& value : a) value = random.uniform(-1, 1);
        EXPECT_EQ(sum(a.data(), static_cast<std::int64_t>(n)),
                  dot_as_written(a, std::vector<float>(n, 1.0f)));
    }
}

TEST(Lanes, CountTheirOperations) {
    for (std::int64_t n = 1; n <= 40; ++n) {
        const std::vector<Counted> a(static_cast<std::size_t>(n), Counted(2));
        OperationTally before = operation_tally;
        dot(a.data(), a.data(), n);
        EXPECT_EQ(operation_tally.multiplies - before.multiplies, n);
        EXPECT_EQ(operation_tally.adds - before.adds, n - 1);
        before = operation_tally;
        sum(a.data(), n);
        EXPECT_EQ(operation_tally.total() - before.total(), n - 1);
    }
}

}  // namespace
}  // namespace kvtape
