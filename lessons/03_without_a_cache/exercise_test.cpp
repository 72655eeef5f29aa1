#include "lessons/common/tiny.h"
#include "reference_cpu/no_cache.h"

namespace kvtape::exercise {
std::int64_t rows_written_without_cache(const ModelShape& shape, std::int64_t prompt,
                                        std::int64_t new_tokens);
}

int main() {
    using namespace kvtape;
    const Model<float> model = lessons::tiny_model();
    const std::vector<std::int32_t> prompt = {5, 9, 2, 7};
    int wrong = 0;
    for (const std::int64_t new_tokens : {1, 2, 8, 30}) {
        NoCache cache(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
        std::int64_t rows = 0;
        for (const Step& step : lessons::decode(model, cache, prompt, new_tokens)) {
            rows += lessons::rows_written(step);
        }
        const std::string what = "rows written for 4 + " + std::to_string(new_tokens) + " tokens";
        wrong += lessons::check(what.c_str(), static_cast<double>(rows),
                                static_cast<double>(exercise::rows_written_without_cache(
                                    model.config.shape, 4, new_tokens)));
    }
    return lessons::verdict(wrong);
}
