// The FLOP convention of kvtape, stated once: a multiply, an add (or subtract), a divide, a square
// root and an exp are one FLOP each, so a multiply-add is two. Comparisons, table look-ups, copies
// and conversions between number formats are none. One MAC (multiply-accumulate) = two FLOP.
#pragma once

#include <array>
#include <cstdint>

namespace kvtape {

// Where a FLOP was spent. The embedding is a look-up and costs none.
enum class Component : std::uint8_t {
    projections,  // Q, K, V and output
    mlp,          // gate, up and down
    attention,    // q.k, its scale, and the weighted sum of values: 4 D per (query head, key)
    head,         // output head: 2 V d per row of logits
    softmax,      // exponentials, sums, merging of splits
    norm,         // RMSNorm
    rope,         // rotation of q and k
    activation,   // SiLU and the product with `up`
    residual,     // additions to the residual stream
};
inline constexpr int component_count = 9;

const char* name(Component component);

// FLOPs by component.
struct FlopCounts {
    std::array<std::int64_t, component_count> of{};  // indexed by Component

    std::int64_t& operator[](Component c) { return of[static_cast<std::size_t>(c)]; }
    std::int64_t operator[](Component c) const { return of[static_cast<std::size_t>(c)]; }
    std::int64_t total() const {
        std::int64_t sum = 0;
        for (const std::int64_t flops : of) sum += flops;
        return sum;
    }
    FlopCounts& operator+=(const FlopCounts& other) {
        for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
        return *this;
    }
    friend bool operator==(const FlopCounts&, const FlopCounts&) = default;
};

}  // namespace kvtape
