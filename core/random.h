// A seeded generator whose numbers are the same on every platform. The distributions of the C++
// standard library are not: each library may compute them in its own way.
//
// SplitMix64: a counter whose every value is scrambled by two multiplications. Source: Steele, Lea
// and Flood 2014, "Fast Splittable Pseudorandom Number Generators". Not for secrets.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/check.h"

namespace kvtape {

class Random {
  public:
    explicit Random(std::uint64_t seed) : counter_(seed) {}

    // 64 random bits.
    std::uint64_t next() {
        counter_ += 0x9E3779B97F4A7C15;
        std::uint64_t bits = counter_;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
        return bits ^ (bits >> 31);
    }

    // A multiple of 2^-24 in [0, 1), each equally likely.
    float unit() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

    // A float in [begin, end).
    float uniform(float begin, float end) {
        KVTAPE_CHECK(begin, <, end);
        for (;;) {
            const float value = std::fma(end - begin, unit(), begin);
            if (value < end)  // the sum may have been rounded up to the end
                return value;
        }
    }

    // An integer in [0, bound), each equally likely.
    std::uint64_t below(std::uint64_t bound) {
        KVTAPE_CHECK(bound, >, 0u);
        // 2^64 is rarely a multiple of `bound`. The first 2^64 mod bound values are drawn again, so
        // that every remainder is left with the same number of values.
        const std::uint64_t surplus = (0 - bound) % bound;
        for (;;) {
            const std::uint64_t bits = next();
            if (bits >= surplus) return bits % bound;
        }
    }

  private:
    std::uint64_t counter_;
};

}  // namespace kvtape
