// The bodies of PackedLinear; reference_cpu/linear.h says what they compute and why. Include this
// file only to instantiate PackedLinear for a scalar of your own, such as one that counts
// operations: it needs construction from float, no destructor, and fma (or * and +). Eigen then
// takes "a vector of one" for it, P is 1, and exactly K multiplies and K adds are done per output.
//
// From the outside in: multiply cuts x into blocks that stay in the L2 cache, multiply_block goes
// through panels and tiles, multiply_tile (reference_cpu/linear_tile.h) does the sums.
#pragma once

#include <algorithm>
#include <memory>

#include "core/check.h"
#include "reference_cpu/linear.h"
#include "reference_cpu/linear_tile.h"

namespace kvtape::linear_detail {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// The cache block: this many rows of x and inputs are used for all panels before the next ones. A
// sum is put down in y after one block of inputs and taken up with the next, which loses nothing: a
// float in memory has the bits of the float in the register.
inline constexpr std::int64_t rows_per_block = 8 * R;
inline constexpr std::int64_t inputs_per_block = 1024;

struct Block {
    std::int64_t row_begin, row_end;
    std::int64_t k_begin, k_end;
    std::int64_t panel_begin, panel_end;
};

// Writes rows tile after tile as [k][row in tile], the order in which multiply_tile reads them.
template <class Scalar>
void pack_rows(const Scalar* x,  // (rows, x_stride), of which the first `inputs` are taken
               std::int64_t rows, std::int64_t x_stride, std::int64_t inputs,
               Scalar* packed) {  // (rows * inputs)
    for (; rows >= R; rows -= R, x += R * x_stride) {
        for (std::int64_t k = 0; k < inputs; ++k) {
            for (int r = 0; r < R; ++r) *packed++ = x[r * x_stride + k];
        }
    }
    for (std::int64_t k = 0; k < inputs; ++k) {
        for (std::int64_t r = 0; r < rows; ++r) *packed++ = x[r * x_stride + k];
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

    for (std::int64_t row = 0; row < rows; row += block_rows) {
        for (std::int64_t k = 0; k < inputs_; k += block_inputs) {
            const Block block = {.row_begin = row,
                                 .row_end = std::min(row + block_rows, rows),
                                 .k_begin = k,
                                 .k_end = std::min(k + block_inputs, inputs_),
                                 .panel_begin = panel_begin,
                                 .panel_end = panel_end};
            pack_rows(x + row * inputs_ + k, block.row_end - row, inputs_, block.k_end - k,
                      packed_x.get());
            multiply_block(block, packed_x.get(), y);
        }
    }
}

template <class Scalar>
void PackedLinear<Scalar>::multiply_block(const linear_detail::Block& block, const Scalar* packed_x,
                                          Scalar* y) const {
    using namespace linear_detail;
    constexpr std::int64_t P = linear_detail::P<Scalar>;
    const std::int64_t rows = block.row_end - block.row_begin;
    const std::int64_t inputs = block.k_end - block.k_begin;
    const std::int64_t whole_panels = std::min(block.panel_end, outputs_ / P);

    std::int64_t side_by_side = panels_side_by_side(rows);
    for (std::int64_t panel = block.panel_begin; panel < block.panel_end; panel += side_by_side) {
        if (panel + side_by_side > whole_panels) side_by_side = 1;
        const Scalar* w = packed_.data() + (panel * inputs_ + block.k_begin) * P;
        TileWork<Scalar> work = {.x = packed_x,
                                 .w = w,
                                 .w_stride = inputs_ * P,
                                 .inputs = inputs,
                                 .resume = block.k_begin > 0,
                                 .y = y + block.row_begin * outputs_ + panel * P,
                                 .y_stride = outputs_,
                                 .wanted_w = w,
                                 .wanted_w_per_k = 0};

        for (std::int64_t row = 0; row < rows; row += R) {
            const std::int64_t tile_rows = std::min<std::int64_t>(R, rows - row);
            work.x = packed_x + row * inputs;
            work.y = y + (block.row_begin + row) * outputs_ + panel * P;
            if (rows > R && panel + 1 < block.panel_end) {
                // While its tiles use this panel, they bring in the next one, a part each.
                work.wanted_w = w + work.w_stride + inputs * P * row / rows;
                work.wanted_w_per_k = P * R / rows;
            }
            if (panel >= whole_panels) {
                multiply_narrow_tile(work, tile_rows, outputs_ - panel * P);
            } else if (side_by_side > 1) {
                several_panels<Scalar>[tile_rows](work);
            } else {
                one_panel<Scalar>[tile_rows](work);
            }
        }
    }
}

}  // namespace kvtape
