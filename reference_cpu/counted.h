// A number that counts what is done to it. The kernels are templates; run on `Counted` instead of
// `float` they compute the same values and tally every multiply, add, divide, square root and exp.
// So the FLOPs that kernels report from their shapes are checked against the operations themselves.
//
// For one thread: each thread has a tally of its own.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/exact_math.h"

namespace kvtape {

struct OperationTally {
    std::int64_t multiplies = 0;
    std::int64_t adds = 0;  // and subtractions
    std::int64_t divides = 0;
    std::int64_t square_roots = 0;
    std::int64_t exps = 0;

    std::int64_t total() const { return multiplies + adds + divides + square_roots + exps; }
};

inline thread_local OperationTally operation_tally;

struct Counted {
    float value = 0;

    Counted() = default;
    Counted(float v) : value(v) {}                      // implicit: a constant or a loaded number
    Counted(int v) : Counted(static_cast<float>(v)) {}  // Eigen writes Scalar(0)

    friend Counted operator+(Counted a, Counted b) {
        ++operation_tally.adds;
        return a.value + b.value;
    }
    friend Counted operator-(Counted a, Counted b) {
        ++operation_tally.adds;
        return a.value - b.value;
    }
    friend Counted operator*(Counted a, Counted b) {
        ++operation_tally.multiplies;
        return a.value * b.value;
    }
    friend Counted operator/(Counted a, Counted b) {
        ++operation_tally.divides;
        return a.value / b.value;
    }
    // A change of sign costs nothing: it flips one bit.
    friend Counted operator-(Counted a) { return -a.value; }
    friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
    friend bool operator>(Counted a, Counted b) { return a.value > b.value; }

    // a * b + c, rounded once.
    friend Counted fma(Counted a, Counted b, Counted c) {
        ++operation_tally.multiplies;
        ++operation_tally.adds;
        return std::fma(a.value, b.value, c.value);
    }
    friend Counted sqrt(Counted a) {
        ++operation_tally.square_roots;
        return std::sqrt(a.value);
    }
    friend Counted exact_exp(Counted a) {
        ++operation_tally.exps;
        return exact_exp(a.value);
    }
};

inline float to_float(float value) {
    return value;
}
inline float to_float(Counted value) {
    return value.value;
}

}  // namespace kvtape
