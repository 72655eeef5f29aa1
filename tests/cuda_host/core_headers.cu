// That nvcc compiles every header of core/, and takes what kernels need for device code.
#include <cstdint>

#include "core/check.h"
#include "core/exact_math.h"
#include "core/host_device.h"
#include "core/kv_dtype.h"
#include "core/layout.h"
#include "core/number_format.h"
#include "core/random.h"
#include "core/rope.h"
#include "core/shape.h"

namespace kvtape {

// grid (1), block (1). Never launched: it has to compile, not to run.
__global__ void uses_core(const float* in /* (4) */, float* row /* (D) */, double* wide /* (5) */,
                          PagedLayout layout) {
    const std::uint32_t codes[] = {encode<f16_format>(in[0], Overflow::to_infinity),
                                   encode<bf16_format>(in[1], Overflow::saturate),
                                   encode<e4m3_format>(in[2], Overflow::saturate),
                                   encode<e5m2_format>(in[3], Overflow::saturate)};
    float* out = row + layout.row_offset(0, layout.block_slot(3), 0);
    out[0] = decode<f16_format>(codes[0]) + decode<bf16_format>(codes[1]);
    out[1] = decode<e4m3_format>(codes[2]) + decode<e5m2_format>(codes[3]);
    out[2] = exact_exp(in[0]) + silu(in[1]);
    out[3] = overflows<e4m3_format>(in[2]) ? 1.0f : 0.0f;
    rotate_half_split(row, in, in, layout.head_dim);
    wide[0] = exact_exp(wide[1]) + exact_log(wide[2]) + exact_sin(wide[3]) + exact_cos(wide[4]);
}

}  // namespace kvtape
