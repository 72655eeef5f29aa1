#include "core/shape.h"

namespace kvtape::exercise {

std::int64_t rows_written_without_cache(const ModelShape& shape, std::int64_t prompt,
                                        std::int64_t new_tokens) {
    const std::int64_t tokens = new_tokens * prompt + new_tokens * (new_tokens - 1) / 2;
    return 2 * shape.layers * shape.kv_heads * tokens;
}

}  // namespace kvtape::exercise
