// The linear layer y = x W^T, where nearly all FLOPs of a transformer are spent.
//
// The order of the sum. Floating-point addition rounds, so (a + b) + c and a + (b + c) may differ
// in the last bit. Libraries choose the order that is fastest for the shape at hand; the same token
// then gets other bits when it is computed alone than when it is computed among 512. Here the order
// is part of the definition: each output is
//
//     sum = 0;  for k = 0, 1, ..., K - 1:  sum = fma(x[k], w[k], sum)
//
// and whatever is done for speed works on many outputs side by side, never inside one of these
// sums. So the bits do not depend on the rows beside a row, on threads, compilers, or vector width.
// (Which NaN comes out where NaNs of several kinds meet is left to the processor.)
//
// Panels. A vector register holds the sums of 8 or 16 neighbouring outputs; one step over k needs
// the weights of these outputs for the same k. A checkpoint stores them K numbers apart. We store
// panels of P outputs as [panel][k][output in panel], so the loop over k reads memory front to
// back.
//
// The register tile. A multiply-add must not wait for memory, so each weight that was loaded serves
// R rows and each x serves P outputs, with the R x P sums kept in registers all along the loop:
//
//                    w[k][0 .. P)                 AVX2      16 registers: R = 6, P = 2 x 8
//          x[0][k]   sum sum sum ...              AVX-512   32 registers: R = 6, P = 4 x 16
//          ...       ...
//          x[R-1][k] sum sum sum ...              (R P sums, a row of w and one x must fit)
#pragma once

#include <cstdint>

#include "reference_cpu/huge_pages.h"

namespace kvtape {

namespace linear_detail {
struct Block;
}

// A weight matrix, packed once when the model is loaded.
//   Scalar   float, or a scalar that counts its operations (see reference_cpu/linear_impl.h)
template <class Scalar>
class PackedLinear {
  public:
    // Throws ContractViolation unless outputs and inputs are positive.
    PackedLinear(const float* weights,  // (outputs, inputs)
                 std::int64_t outputs, std::int64_t inputs);

    std::int64_t outputs() const { return outputs_; }
    std::int64_t inputs() const { return inputs_; }
    std::int64_t panels() const;  // outputs / P, rounded up
    // Outputs in the panels [0, panel): P each, fewer in the last.
    std::int64_t outputs_before(std::int64_t panel) const;
    std::int64_t bytes() const { return packed_.bytes(); }

    // Computes the outputs of the panels [panel_begin, panel_end) for all rows and leaves the other
    // outputs in y alone. Threads share a product by taking panels, so that no sum is ever split;
    // any number of them may call this at once. x and y must not overlap.
    void multiply(const Scalar* x,  // (rows, inputs)
                  std::int64_t rows,
                  Scalar* y,  // (rows, outputs)
                  std::int64_t panel_begin, std::int64_t panel_end) const;

    // All outputs.
    void multiply(const Scalar* x, std::int64_t rows, Scalar* y) const {
        multiply(x, rows, y, 0, panels());
    }

  private:
    void multiply_block(const linear_detail::Block& block, const Scalar* packed_x, Scalar* y) const;

    std::int64_t outputs_;
    std::int64_t inputs_;
    HugePageBuffer<Scalar> packed_;  // (panels, inputs, P); outputs that do not exist weigh 0
};

extern template class PackedLinear<float>;

}  // namespace kvtape
