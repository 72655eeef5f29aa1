// The register tile of PackedLinear: R x P sums that stay in registers along the whole loop over k.
// reference_cpu/linear.h says why, reference_cpu/linear_impl.h calls it.
//
// The multiply-add is Eigen's pmadd, one instruction that rounds once. It is written out rather
// than left to the compiler, which may fuse a * b + c or not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <Eigen/Core>

#if !defined(EIGEN_VECTORIZE_FMA)
#error "kvtape needs fused multiply-add: compile with -mavx2 -mfma, or with AVX-512"
#endif

namespace kvtape::linear_detail {

// Eigen's name for the widest vector of Scalars: 8 floats with AVX2, 16 with AVX-512.
template <class Scalar>
using Packet = typename Eigen::internal::packet_traits<Scalar>::type;

template <class Scalar>
inline constexpr int lanes = Eigen::internal::unpacket_traits<Packet<Scalar>>::size;

// The register tile: R rows x P outputs.
constexpr int packets_for(int lanes_per_packet) {
    return lanes_per_packet == 1 ? 1 : lanes_per_packet == 8 ? 2 : 4;
}
template <class Scalar>
inline constexpr int packets_per_panel = packets_for(lanes<Scalar>);
template <class Scalar>
inline constexpr int P = packets_for(lanes<Scalar>) * lanes<Scalar>;
inline constexpr int R = 6;

// Few rows do little work per weight, and reading weights is what takes the time. With few rows
// there are registers left for several panels, and several streams from memory are faster than one.
constexpr int panels_side_by_side(std::int64_t rows) {
    return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
}

template <class Scalar>
struct TileWork {
    const Scalar* x;              // (inputs, rows), packed by pack_rows
    const Scalar* w;              // (panels, inputs, P)
    std::int64_t w_stride;        // from panel to panel
    std::int64_t inputs;          // steps over k
    bool resume;                  // take up the sums found in y; otherwise start from 0
    Scalar* y;                    // (rows, panels * P)
    std::int64_t y_stride;        // from row to row
    const Scalar* wanted_w;       // weights that other tiles will want soon
    std::int64_t wanted_w_per_k;  // how many of them to fetch while one k is done
};

// x * w + sum, rounded once. For a scalar of one's own Eigen would multiply and then add, so its
// own fma is taken if it has one.
template <class Vector>
[[gnu::always_inline]] inline Vector multiply_add(const Vector& x, const Vector& w,
                                                  const Vector& sum) {
    if constexpr (requires { fma(x, w, sum); }) {
        return fma(x, w, sum);
    } else {
        return Eigen::internal::pmadd(x, w, sum);
    }
}

// One k: sum[r][o] += x[r] * w[o] for the R x P sums of a tile.
template <class Scalar, int rows, int panels>
[[gnu::always_inline]] inline void multiply_step(
    const Scalar* x, const Scalar* w, std::int64_t w_stride,
    Packet<Scalar> (&sum)[rows][panels * packets_per_panel<Scalar>]) {
    constexpr int packets = packets_per_panel<Scalar>;
    for (int panel = 0; panel < panels; ++panel) {
        Packet<Scalar> w_k[packets];
        for (int p = 0; p < packets; ++p) {
            const Scalar* from = w + panel * w_stride + p * lanes<Scalar>;
            w_k[p] = Eigen::internal::pload<Packet<Scalar>>(from);
        }
        for (int r = 0; r < rows; ++r) {
            const Packet<Scalar> x_k = Eigen::internal::pset1<Packet<Scalar>>(x[r]);
            for (int p = 0; p < packets; ++p) {
                Packet<Scalar>& s = sum[r][panel * packets + p];
                s = multiply_add(x_k, w_k[p], s);
            }
        }
    }
}

// The steps [k_begin, k_end) of a tile, `unroll` of them between two jumps: instructions that only
// count and jump would otherwise take a tenth of the time. k_end - k_begin is a multiple of unroll,
// and not 0. `resume` takes up the sums found in y. It is a template parameter because g++ 12
// passes the sums through memory where it is not known, which costs a few percent.
template <class Scalar, int rows, int panels, int unroll, bool resume>
[[gnu::noinline]] void multiply_steps(const TileWork<Scalar>& work, std::int64_t k_begin,
                                      std::int64_t k_end) {
    constexpr int packets = panels * packets_per_panel<Scalar>;
    Packet<Scalar> sum[rows][packets];
    for (int r = 0; r < rows; ++r) {
        const Scalar* y = work.y + r * work.y_stride;
        for (int p = 0; p < packets; ++p) {
            sum[r][p] = resume ? Eigen::internal::ploadu<Packet<Scalar>>(y + p * lanes<Scalar>)
                               : Eigen::internal::pset1<Packet<Scalar>>(Scalar(0.0f));
        }
        __builtin_prefetch(y, 1);  // to be written at the end
    }
    const Scalar* x = work.x + k_begin * rows;
    const Scalar* w = work.w + k_begin * P<Scalar>;
    const Scalar* wanted_w = work.wanted_w;
    std::int64_t k = k_begin;
    do {  // not a for loop: g++ 12 would keep the sums in memory around it
        if constexpr (rows == R) {
            __builtin_prefetch(wanted_w, 0, 2);
            wanted_w += work.wanted_w_per_k * unroll;
        }
        for (int i = 0; i < unroll; ++i) {
            multiply_step<Scalar, rows, panels>(x, w, work.w_stride, sum);
            x += rows;
            w += P<Scalar>;
        }
        k += unroll;
    } while (k < k_end);
    for (int r = 0; r < rows; ++r) {
        Scalar* y = work.y + r * work.y_stride;
        for (int p = 0; p < packets; ++p) {
            Eigen::internal::pstoreu(y + p * lanes<Scalar>, sum[r][p]);
        }
    }
}

// The last steps have a function of their own: with both loops in one, g++ 12 keeps a sum in
// memory.
template <class Scalar, int rows, int panels>
void multiply_tile(const TileWork<Scalar>& work) {
    constexpr int unroll = 4;
    const std::int64_t in_fours = work.inputs - work.inputs % unroll;
    if (in_fours > 0 && work.resume) {
        multiply_steps<Scalar, rows, panels, unroll, true>(work, 0, in_fours);
    } else if (in_fours > 0) {
        multiply_steps<Scalar, rows, panels, unroll, false>(work, 0, in_fours);
    }
    if (in_fours == work.inputs) return;
    if (in_fours > 0 || work.resume) {
        multiply_steps<Scalar, rows, panels, 1, true>(work, in_fours, work.inputs);
    } else {
        multiply_steps<Scalar, rows, panels, 1, false>(work, in_fours, work.inputs);
    }
}

template <class Scalar>
using TileFunction = void(const TileWork<Scalar>&);

// By number of rows: one panel, and as many as panels_side_by_side says.
template <class Scalar>
inline constexpr TileFunction<Scalar>* one_panel[R + 1] = {nullptr,
                                                           multiply_tile<Scalar, 1, 1>,
                                                           multiply_tile<Scalar, 2, 1>,
                                                           multiply_tile<Scalar, 3, 1>,
                                                           multiply_tile<Scalar, 4, 1>,
                                                           multiply_tile<Scalar, 5, 1>,
                                                           multiply_tile<Scalar, 6, 1>};
template <class Scalar>
inline constexpr TileFunction<Scalar>* several_panels[4] = {
    nullptr, multiply_tile<Scalar, 1, 4>, multiply_tile<Scalar, 2, 2>, multiply_tile<Scalar, 3, 2>};

// The last panel may be wider than what is left of y: multiply_tile, by way of a tile of its own.
template <class Scalar>
void multiply_narrow_tile(TileWork<Scalar> work, std::int64_t rows, std::int64_t outputs) {
    Scalar tile[R * P<Scalar>] = {};
    Scalar* y = work.y;
    const std::int64_t y_stride = work.y_stride;
    for (std::int64_t r = 0; r < rows && work.resume; ++r) {
        std::copy_n(y + r * y_stride, outputs, tile + r * P<Scalar>);
    }
    work.y = tile;
    work.y_stride = P<Scalar>;
    one_panel<Scalar>[rows](work);
    for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(tile + r * P<Scalar>, outputs, y + r * y_stride);
    }
}

}  // namespace kvtape::linear_detail
