// Exercise 3. The rows that a decoder without a cache writes, in closed form.
#include "core/shape.h"

namespace kvtape::exercise {

// The first pass computes `prompt` tokens and yields the first new token. Every later pass computes
// one token more than the one before. After `new_tokens` passes, how many rows of K and V were
// written in all? (A token has 2 L G rows.)
std::int64_t rows_written_without_cache(const ModelShape& shape, std::int64_t prompt,
                                        std::int64_t new_tokens) {
    (void)shape;
    (void)prompt;
    (void)new_tokens;
    return 0;
}

}  // namespace kvtape::exercise
