// The bodies of PackedLinear; reference_cpu/linear.h says what they compute and why. Include this
// file only to instantiate PackedLinear for a scalar of your own, such as one that counts
// operations: it needs +, *, construction from float and no destructor. Eigen then takes "a vector
// of one" for it, P is 1, and exactly K multiplies and K adds are done per output.
#pragma once

#include <algorithm>
#include <Eigen/Core>
#include <memory>

#include "core/check.h"
#include "reference_cpu/linear.h"

#if !defined(EIGEN_VECTORIZE_FMA)
#error "kvtape needs fused multiply-add: compile with -mavx2 -mfma, or with AVX-512"
#endif

namespace kvtape::linear_detail {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Eigen's name for the widest vector of Scalars: 8 floats with AVX2, 16 with AVX-512.
template <class Scalar>
using Packet = typename Eigen::internal::packet_traits<Scalar>::type;

template <class Scalar>
inline constexpr int lanes = Eigen::internal::unpacket_traits<Packet<Scalar>>::size;

// The register tile: R rows x P outputs.
template <class Scalar>
inline constexpr int packets_per_panel = lanes<Scalar> == 1   ? 1
                                         : lanes<Scalar> == 8 ? 2
                                                              : 4;
template <class Scalar>
inline constexpr int P = packets_per_panel<Scalar>* lanes<Scalar>;
inline constexpr int R = 6;

// The cache tile: this many rows of x and inputs are used for all panels before the next ones. A
// sum is put down in y after one block of inputs and taken up with the next, which loses nothing: a
// float in memory has the bits of the float in the register.
inline constexpr std::int64_t rows_per_block = 16 * R;
inline constexpr std::int64_t inputs_per_block = 1024;

// Few rows do little work per weight, and reading weights is what takes the time. With few rows
// there are registers left for several panels, and several streams from memory are faster than one.
constexpr int panels_side_by_side(std::int64_t rows) {
    return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
}

template <class Scalar>
struct TileWork {
    const Scalar* x;           // (inputs, rows), packed by pack_rows
    const Scalar* w;           // (panels, inputs, P)
    std::int64_t w_stride;     // from panel to panel
    std::int64_t inputs;       // steps over k
    bool resume;               // take up the sums found in y; otherwise start from 0
    Scalar* y;                 // (rows, panels * P)
    std::int64_t y_stride;     // from row to row
    const Scalar* next_w;      // weights that will be wanted soon
    std::int64_t next_w_step;  // how many of them to fetch per k
};

template <class Scalar, int rows, int panels>
void multiply_tile(const TileWork<Scalar>& work) {
    namespace ei = Eigen::internal;
    using Vector = Packet<Scalar>;
    constexpr int packets = packets_per_panel<Scalar>;

    Vector sum[rows][panels * packets];
    for (int r = 0; r < rows; ++r) {
        const Scalar* y = work.y + r * work.y_stride;
        __builtin_prefetch(y, 1);
        for (int p = 0; p < panels * packets; ++p) {
            sum[r][p] = work.resume ? ei::ploadu<Vector>(y + p * lanes<Scalar>)
                                    : ei::pset1<Vector>(Scalar(0.0f));
        }
    }
    const Scalar* next_w = work.next_w;
    for (std::int64_t k = 0; k < work.inputs; ++k) {
        if constexpr (rows == R) {
            __builtin_prefetch(next_w);
            next_w += work.next_w_step;
        }
        for (int panel = 0; panel < panels; ++panel) {
            const Scalar* w_k = work.w + panel * work.w_stride + k * P<Scalar>;
            Vector w[packets];
            for (int p = 0; p < packets; ++p) w[p] = ei::pload<Vector>(w_k + p * lanes<Scalar>);
            for (int r = 0; r < rows; ++r) {
                const Vector x = ei::pset1<Vector>(work.x[k * rows + r]);
                for (int p = 0; p < packets; ++p) {
                    Vector& s = sum[r][panel * packets + p];
                    s = ei::pmadd(x, w[p], s);  // x * w + s, rounded once
                }
            }
        }
    }
    for (int r = 0; r < rows; ++r) {
        Scalar* y = work.y + r * work.y_stride;
        for (int p = 0; p < panels * packets; ++p) ei::pstoreu(y + p * lanes<Scalar>, sum[r][p]);
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

// Writes rows tile after tile as [k][row in tile], the order in which multiply_tile reads them.
template <class Scalar>
void pack_rows(const Scalar* x,  // (rows, x_stride), of which the first `inputs` are taken
               std::int64_t rows, std::int64_t x_stride, std::int64_t inputs,
               Scalar* packed) {  // (rows * inputs)
    std::int64_t r = 0;
    for (; r + R <= rows; r += R, x += R * x_stride) {
        for (std::int64_t k = 0; k < inputs; ++k) {
            for (int i = 0; i < R; ++i) *packed++ = x[i * x_stride + k];
        }
    }
    for (std::int64_t k = 0; k < inputs; ++k) {
        for (std::int64_t i = 0; i < rows - r; ++i) *packed++ = x[i * x_stride + k];
    }
}

// The last panel may be wider than what is left of y: multiply_tile, by way of a tile of its own.
template <class Scalar>
void multiply_narrow_tile(TileWork<Scalar> work, std::int64_t rows, std::int64_t outputs) {
    Scalar tile[R * P<Scalar>] = {};
    Scalar* y = work.y;
    const std::int64_t y_stride = work.y_stride;
    for (std::int64_t r = 0; r < rows; ++r) {
        if (work.resume) std::copy_n(y + r * y_stride, outputs, tile + r * P<Scalar>);
    }
    work.y = tile;
    work.y_stride = P<Scalar>;
    one_panel<Scalar>[rows](work);
    for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(tile + r * P<Scalar>, outputs, y + r * y_stride);
    }
}

}  // namespace kvtape::linear_detail

namespace kvtape {

template <class Scalar>
PackedLinear<Scalar>::PackedLinear(const float* weights, std::int64_t outputs, std::int64_t inputs)
    : outputs_(outputs), inputs_(inputs) {
    KVTAPE_CHECK(outputs, >, 0);
    KVTAPE_CHECK(inputs, >, 0);
    constexpr std::int64_t P = linear_detail::P<Scalar>;
    packed_ = HugePageBuffer<Scalar>(panels() * inputs * P);
    for (std::int64_t o = 0; o < outputs; ++o) {
        Scalar* column = packed_.data() + (o / P) * inputs * P + o % P;
        for (std::int64_t k = 0; k < inputs; ++k) column[k * P] = Scalar(weights[o * inputs + k]);
    }
}

template <class Scalar>
std::int64_t PackedLinear<Scalar>::panels() const {
    return linear_detail::divide_up(outputs_, linear_detail::P<Scalar>);
}

template <class Scalar>
std::int64_t PackedLinear<Scalar>::outputs_before(std::int64_t panel) const {
    return std::min(panel * linear_detail::P<Scalar>, outputs_);
}

template <class Scalar>
void PackedLinear<Scalar>::multiply(const Scalar* x, std::int64_t rows, Scalar* y,
                                    std::int64_t panel_begin, std::int64_t panel_end) const {
    using namespace linear_detail;
    constexpr std::int64_t P = linear_detail::P<Scalar>;
    KVTAPE_CHECK(rows, >=, 0);
    KVTAPE_CHECK(panel_begin, >=, 0);
    KVTAPE_CHECK(panel_end, <=, panels());
    if (rows == 0 || panel_begin >= panel_end) return;

    // Blocks of about the same number of rows, so that the last one is not left with one row.
    const std::int64_t blocks = divide_up(rows, rows_per_block);
    const std::int64_t block_rows = std::min(rows, divide_up(divide_up(rows, blocks), R) * R);
    const std::int64_t block_inputs = std::min(inputs_, inputs_per_block);
    const auto packed_x = std::make_unique_for_overwrite<Scalar[]>(
        static_cast<std::size_t>(block_rows * block_inputs));

    for (std::int64_t row_begin = 0; row_begin < rows; row_begin += block_rows) {
        const std::int64_t row_end = std::min(rows, row_begin + block_rows);
        const std::int64_t tiles = divide_up(row_end - row_begin, R);
        for (std::int64_t k_begin = 0; k_begin < inputs_; k_begin += block_inputs) {
            const std::int64_t inputs = std::min(block_inputs, inputs_ - k_begin);
            pack_rows(x + row_begin * inputs_ + k_begin, row_end - row_begin, inputs_, inputs,
                      packed_x.get());

            std::int64_t side_by_side = panels_side_by_side(rows);
            for (std::int64_t panel = panel_begin; panel < panel_end; panel += side_by_side) {
                const std::int64_t whole_panels = std::min(panel_end, outputs_ / P) - panel;
                if (side_by_side > whole_panels) side_by_side = 1;
                const bool narrow = whole_panels == 0;

                // While this panel is used by tile after tile, the next one is fetched.
                const Scalar* w = packed_.data() + (panel * inputs_ + k_begin) * P;
                const bool fetch = tiles > 1 && panel + 1 < panel_end;
                const Scalar* next_w = fetch ? w + inputs_ * P : w;
                const std::int64_t next_w_step = fetch ? P / tiles : 0;

                for (std::int64_t row = row_begin; row < row_end; row += R) {
                    const std::int64_t tile_rows = std::min<std::int64_t>(R, row_end - row);
                    const TileWork<Scalar> work = {
                        .x = packed_x.get() + (row - row_begin) * inputs,
                        .w = w,
                        .w_stride = inputs_ * P,
                        .inputs = inputs,
                        .resume = k_begin > 0,
                        .y = y + row * outputs_ + panel * P,
                        .y_stride = outputs_,
                        .next_w = next_w + (row - row_begin) / R * inputs * next_w_step,
                        .next_w_step = next_w_step};
                    if (narrow) {
                        multiply_narrow_tile(work, tile_rows, outputs_ - panel * P);
                    } else if (side_by_side > 1) {
                        several_panels<Scalar>[tile_rows](work);
                    } else {
                        one_panel<Scalar>[tile_rows](work);
                    }
                }
            }
        }
    }
}

}  // namespace kvtape
