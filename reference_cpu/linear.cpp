#include "reference_cpu/linear.h"

#include "reference_cpu/linear_impl.h"

namespace kvtape {

template class PackedLinear<float>;

}  // namespace kvtape
