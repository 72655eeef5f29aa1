#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"

namespace kvtape::exercise {
std::int64_t numbers_kept_per_token(const ModelShape& shape);
}

int main() {
    using namespace kvtape;
    int wrong = 0;
    for (const std::int64_t kv_heads : {4, 2, 1}) {
        // Ask the tape: feed a token and count the bytes that were written.
        const Model<float> model = lessons::tiny_model(kv_heads);
        ContiguousCache cache(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
        const Step step = lessons::decode(model, cache, {5}, 1).front();
        const std::string what = "numbers kept per token with G = " + std::to_string(kv_heads);
        wrong += lessons::check(
            what.c_str(), static_cast<double>(step.kv_bytes_written / 4),
            static_cast<double>(exercise::numbers_kept_per_token(model.config.shape)));
    }
    return lessons::verdict(wrong);
}
