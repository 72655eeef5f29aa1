#include "core/shape.h"

namespace kvtape::exercise {

std::int64_t numbers_kept_per_token(const ModelShape& shape) {
    return 2 * shape.layers * shape.kv_heads * shape.head_dim;
}

}  // namespace kvtape::exercise
