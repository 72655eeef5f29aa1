#include "lessons/common/tiny.h"
#include "tracer/cost_model.h"

namespace kvtape::exercise {
double keys_at_crossover(const ModelShape& shape);
}

int main() {
    using namespace kvtape;
    int wrong = 0;
    const ModelShape llama_8b{.layers = 32,
                              .hidden = 4096,
                              .heads = 32,
                              .kv_heads = 8,
                              .head_dim = 128,
                              .ffn = 14336,
                              .vocab = 128256};
    for (const ModelShape& shape : {lessons::tiny_shape(4), lessons::tiny_shape(1), llama_8b}) {
        // Find it by trying: the first t at which attention is not cheaper.
        std::int64_t t = 1;
        for (;; ++t) {
            const FlopCounts step = expected_flops(shape, {{t - 1, 1, 1}});
            if (step[Component::attention] >= step[Component::projections]) break;
        }
        const std::string what = "keys at the crossover, d = " + std::to_string(shape.hidden) +
                                 ", G = " + std::to_string(shape.kv_heads);
        wrong += lessons::check(what.c_str(), static_cast<double>(t),
                                exercise::keys_at_crossover(shape));
    }
    return lessons::verdict(wrong);
}
