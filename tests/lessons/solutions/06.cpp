#include "core/kv_dtype.h"
#include "core/shape.h"

namespace kvtape::exercise {

std::int64_t tokens_per_sequence(const ModelShape& s, KvDtype dtype, std::int64_t budget_bytes,
                                 std::int64_t sequences) {
    const std::int64_t per_token =
        2 * s.layers * s.kv_heads * s.head_dim * bytes_per_element(dtype);
    return budget_bytes / sequences / per_token;
}

}  // namespace kvtape::exercise
