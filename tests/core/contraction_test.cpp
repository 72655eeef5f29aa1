// exp where the compiler may fuse a product with a sum that follows, as nvcc does by default. The
// rest of the project is compiled with -ffp-contract=off; only g++ can be told otherwise inside a
// file.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2,fp-contract=fast")
#endif

// A name of its own for what this file makes of the header, or the linker might use it elsewhere.
#define kvtape kvtape_contracted
#include "core/exact_math.h"
#undef kvtape

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace kvtape_contracted {
namespace {

// Through memory, so that the sum sees a rounded exp.
float sum_of_rounded(float start, float x) {
    volatile float rounded = exact_exp(x);
    return start + rounded;
}
float sum(float start, float x) {
    return start + exact_exp(x);
}

// Fused with a sum, an exp that is a subnormal number would not be rounded to one first.
TEST(Contraction, DoesNotReachIntoExp) {
    for (int i = 0; i < 100'000; ++i) {
        const float x = static_cast<float>(i - 100'000) * 0x1p-10f;  // -97.7 .. 0
        const float start = std::ldexp(static_cast<float>(64 + i % 64), -131);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(sum(start, x)),
                  std::bit_cast<std::uint32_t>(sum_of_rounded(start, x)))
            << start << " + exp(" << x << ")";
    }
}

TEST(Contraction, DoesNotChangeSilu) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4999) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (!std::isfinite(x)) continue;
        volatile float rounded = exact_exp(-x);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(silu(x)),
                  std::bit_cast<std::uint32_t>(x / (1 + rounded)))
            << x;
    }
}

}  // namespace
}  // namespace kvtape_contracted
