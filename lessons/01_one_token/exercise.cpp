// Exercise 1. How many numbers does a model keep for one token, in all its layers together?
#include "core/shape.h"

namespace kvtape::exercise {

// K and V, of every KV head of every layer. The letters of the alphabet are in core/shape.h.
std::int64_t numbers_kept_per_token(const ModelShape& shape) {
    (void)shape;
    return 0;  // your answer instead of 0; one line is enough
}

}  // namespace kvtape::exercise
