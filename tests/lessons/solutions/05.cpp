#include "core/shape.h"

namespace kvtape::exercise {

double keys_at_crossover(const ModelShape& s) {
    const auto projections =
        static_cast<double>(2 * s.hidden * 2 * (s.heads + s.kv_heads) * s.head_dim);
    return projections / static_cast<double>(4 * s.head_dim * s.heads);
}

}  // namespace kvtape::exercise
