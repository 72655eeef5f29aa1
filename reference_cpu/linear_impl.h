// The bodies of PackedLinear (reference_cpu/linear.h). Include this only to instantiate it for another
// scalar than float.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "core/check.h"
#include "reference_cpu/linear.h"

#if !defined(EIGEN_VECTORIZE_FMA)
#error "kvtape needs fused multiply-add: compile with -mavx2 -mfma, or with AVX-512"
#endif

namespace kvtape::linear_detail {

template <class Scalar>
struct Tile {
    using Packet = typename Eigen::internal::packet_traits<Scalar>::type;
    static constexpr int lanes = Eigen::internal::unpacket_traits<Packet>::size;
    static constexpr int packets = lanes == 1 ? 1 : lanes >= 16 ? 4 : 2;
    static constexpr int outputs = packets * lanes;  // P
    static constexpr int rows = 6;                   // R
};

#ifndef KB
#define KB 1024
#endif
#ifndef RB
#define RB 48
#endif
constexpr std::int64_t inputs_per_block = KB;
constexpr std::int64_t rows_per_block = RB;

template <class Scalar, int rows, int panels>
void multiply_tile(const Scalar* x, const Scalar* w, std::int64_t panel_stride, std::int64_t inputs,
                   bool resume, Scalar* y, std::int64_t y_stride) {
    namespace ei = Eigen::internal;
    using Packet = typename Tile<Scalar>::Packet;
    constexpr int lanes = Tile<Scalar>::lanes;
    constexpr int packets = Tile<Scalar>::packets;
    constexpr int P = Tile<Scalar>::outputs;

    Packet sum[rows][panels * packets];
    for (int r = 0; r < rows; ++r) {
        __builtin_prefetch(y + r * y_stride, 1);
        for (int p = 0; p < panels * packets; ++p)
            sum[r][p] = resume ? ei::ploadu<Packet>(y + r * y_stride + p * lanes)
                               : ei::pset1<Packet>(Scalar(0));
    }
    for (std::int64_t k = 0; k < inputs; ++k) {
        for (int j = 0; j < panels; ++j) {
            const Scalar* w_k = w + j * panel_stride + k * P;
            Packet w_p[packets];
            for (int p = 0; p < packets; ++p) w_p[p] = ei::pload<Packet>(w_k + p * lanes);
            for (int r = 0; r < rows; ++r) {
                const Packet x_r = ei::pset1<Packet>(x[k * rows + r]);
                for (int p = 0; p < packets; ++p)
                    sum[r][j * packets + p] = ei::pmadd(x_r, w_p[p], sum[r][j * packets + p]);
            }
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int p = 0; p < panels * packets; ++p)
            ei::pstoreu(y + r * y_stride + p * lanes, sum[r][p]);
}

template <class Scalar>
using TileFunction = void(const Scalar*, const Scalar*, std::int64_t, std::int64_t, bool, Scalar*,
                          std::int64_t);

template <class Scalar>
TileFunction<Scalar>* tile_function(int rows, int panels) {
    switch (rows) {
        case 1: return panels == 4 ? multiply_tile<Scalar, 1, 4> : multiply_tile<Scalar, 1, 1>;
        case 2: return panels == 2 ? multiply_tile<Scalar, 2, 2> : multiply_tile<Scalar, 2, 1>;
        case 3: return panels == 2 ? multiply_tile<Scalar, 3, 2> : multiply_tile<Scalar, 3, 1>;
        case 4: return multiply_tile<Scalar, 4, 1>;
        case 5: return multiply_tile<Scalar, 5, 1>;
        default: return multiply_tile<Scalar, 6, 1>;
    }
}

}  // namespace kvtape::linear_detail

namespace kvtape {

template <class Scalar>
PackedLinear<Scalar>::PackedLinear(const float* weights, std::int64_t outputs, std::int64_t inputs)
    : outputs_(outputs), inputs_(inputs) {
    KVTAPE_CHECK(outputs, >, 0);
    KVTAPE_CHECK(inputs, >, 0);
    constexpr std::int64_t P = linear_detail::Tile<Scalar>::outputs;
    packed_ = HugePageBuffer<Scalar>(panels() * inputs * P);
    for (std::int64_t o = 0; o < outputs; ++o) {
        Scalar* column = packed_.data() + (o / P) * inputs * P + o % P;
        for (std::int64_t k = 0; k < inputs; ++k) column[k * P] = Scalar(weights[o * inputs + k]);
    }
}

template <class Scalar>
std::int64_t PackedLinear<Scalar>::panels() const {
    constexpr std::int64_t P = linear_detail::Tile<Scalar>::outputs;
    return (outputs_ + P - 1) / P;
}

template <class Scalar>
void PackedLinear<Scalar>::multiply(const Scalar* x, std::int64_t rows, Scalar* y,
                                    std::int64_t panel_begin, std::int64_t panel_end) const {
    using namespace linear_detail;
    constexpr std::int64_t P = Tile<Scalar>::outputs;
    constexpr std::int64_t R = Tile<Scalar>::rows;
    KVTAPE_CHECK(rows, >=, 0);
    KVTAPE_CHECK(panel_begin, >=, 0);
    KVTAPE_CHECK(panel_end, <=, panels());
    thread_local std::vector<Scalar> x_packed;
    x_packed.resize(static_cast<std::size_t>(rows_per_block * inputs_per_block));
    for (std::int64_t row0 = 0; row0 < rows; row0 += rows_per_block) {
        const std::int64_t row1 = std::min(rows, row0 + rows_per_block);
        for (std::int64_t k0 = 0; k0 < inputs_; k0 += inputs_per_block) {
            const std::int64_t ks = std::min(inputs_per_block, inputs_ - k0);
            Scalar* to = x_packed.data();
            for (std::int64_t r = row0; r < row1; r += R) {
                const std::int64_t n = std::min(R, row1 - r);
                for (std::int64_t k = 0; k < ks; ++k)
                    for (std::int64_t i = 0; i < n; ++i) *to++ = x[(r + i) * inputs_ + k0 + k];
            }
            const std::int64_t wanted = rows == 1 ? 4 : rows <= 3 ? 2 : 1;
            std::int64_t side = 1;
            for (std::int64_t panel = panel_begin; panel < panel_end; panel += side) {
                side = (panel + wanted <= panel_end && (panel + wanted) * P <= outputs_) ? wanted : 1;
                const std::int64_t width = std::min(side * P, outputs_ - panel * P);
                const Scalar* w = packed_.data() + (panel * inputs_ + k0) * P;
                for (std::int64_t r = row0; r < row1; r += R) {
                    const std::int64_t n = std::min(R, row1 - r);
                    const Scalar* xp = x_packed.data() + (r - row0) * ks;
                    Scalar* y_r = y + r * outputs_ + panel * P;
                    auto* tile = tile_function<Scalar>(static_cast<int>(n), static_cast<int>(side));
                    if (width == side * P) {
                        tile(xp, w, inputs_ * P, ks, k0 > 0, y_r, outputs_);
                    } else {
                        Scalar scratch[R * P];
                        for (int i = 0; i < n; ++i)
                            std::copy_n(y_r + i * outputs_, width, scratch + i * P);
                        tile(xp, w, inputs_ * P, ks, k0 > 0, scratch, P);
                        for (int i = 0; i < n; ++i)
                            std::copy_n(scratch + i * P, width, y_r + i * outputs_);
                    }
                }
            }
        }
    }
}

}  // namespace kvtape
