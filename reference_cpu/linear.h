// The linear layer y = x W^T, where nearly all FLOPs of a transformer are spent.
#pragma once

#include <cstdint>

#include "reference_cpu/huge_pages.h"

namespace kvtape {

// A weight matrix, packed once when the model is loaded.
//   Scalar   float, or a counting scalar (then also include reference_cpu/linear_impl.h)
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
    // outputs in y alone. Threads share a product by taking panels; no thread ever takes part of a sum.
    // x and y must not overlap. May be called from many threads at once.
    void multiply(const Scalar* x,    // (rows, inputs)
                  std::int64_t rows,  //
                  Scalar* y,          // (rows, outputs)
                  std::int64_t panel_begin, std::int64_t panel_end) const;

    // All outputs.
    void multiply(const Scalar* x, std::int64_t rows, Scalar* y) const {
        multiply(x, rows, y, 0, panels());
    }

  private:
    std::int64_t outputs_;
    std::int64_t inputs_;
    HugePageBuffer<Scalar> packed_;  // (panels, inputs, P)
};

extern template class PackedLinear<float>;

}  // namespace kvtape
