#include <cmath>

#include "lessons/common/tiny.h"
#include "reference_cpu/attention.h"
#include "reference_cpu/contiguous_cache.h"

namespace kvtape::exercise {
std::int64_t visible_keys(std::int64_t cached, std::int64_t i);
}

int main() {
    using namespace kvtape;
    // Key j is ln(j + 1) and value j is j + 1: position p attends to (2 p + 3) / 3.
    const ModelShape shape{.layers = 1, .hidden = 2, .heads = 1, .kv_heads = 1, .head_dim = 2};
    ContiguousCache cache(shape, KvDtype::f32, 5);
    NullTracer::Worker listener;
    KvView<NullTracer> view(cache, listener);
    AttentionScratch<float> scratch(shape);
    cache.reserve(0, 5);

    int wrong = 0;
    const std::int64_t chunks[] = {3, 2};
    std::int64_t cached = 0;
    for (const std::int64_t chunk : chunks) {
        for (std::int64_t j = cached; j < cached + chunk; ++j) {
            const auto number = static_cast<float>(j + 1);
            const float key[] = {std::log(number), 0};
            const float value[] = {number, 0};
            view.store({0, 0, 0, Kind::key}, j, key);
            view.store({0, 0, 0, Kind::value}, j, value);
        }
        for (std::int64_t i = 0; i < chunk; ++i) {
            const std::int64_t position = cached + i;
            const float q[] = {1, 0};
            float out[2];
            attend(view, shape, {0, 0, position, exercise::visible_keys(cached, i), {0, 1}, 1.0f},
                   q, out, scratch);
            const std::string what =
                "chunks 3 + 2: attention at position " + std::to_string(position);
            wrong += lessons::check(what.c_str(), static_cast<double>(2 * position + 3) / 3,
                                    static_cast<double>(out[0]));
        }
        cached += chunk;
    }
    return lessons::verdict(wrong);
}
