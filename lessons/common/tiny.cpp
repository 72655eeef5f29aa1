#include "lessons/common/tiny.h"

#include <cmath>
#include <cstdio>

namespace kvtape::lessons {

ModelShape tiny_shape(std::int64_t kv_heads) {
    return {.layers = 2,
            .hidden = 16,
            .heads = 4,
            .kv_heads = kv_heads,
            .head_dim = 4,
            .ffn = 32,
            .vocab = 32};
}

Model<float> tiny_model(std::int64_t kv_heads) {
    ModelConfig config;
    config.shape = tiny_shape(kv_heads);
    config.max_model_len = tiny_max_model_len;
    config.rms_norm_eps = 1e-5f;
    config.rope_theta = 10000;
    return Model<float>(config, random_weights(config.shape, /*tied=*/false, /*seed=*/1));
}

std::vector<Step> decode(const Model<float>& model, KvCache& cache,
                         const std::vector<std::int32_t>& prompt, std::int64_t new_tokens) {
    Team team(1);
    Recorder recorder(team.size());
    Request request;
    request.prompt = prompt;
    request.max_tokens = new_tokens;
    Decoder<Recorder> decoder(model, cache, recorder, team, request,
                              LengthLimit{model.config.max_model_len});
    std::vector<Step> steps;
    while (!decoder.finished()) steps.push_back(decoder.step().step);
    return steps;
}

std::int64_t rows_written(const Step& step) {
    std::int64_t rows = 0;
    for (const WriteRun& run : step.writes) rows += run.rows();
    return rows;
}

std::int64_t rows_read(const Step& step) {
    std::int64_t rows = 0;
    for (const ReadRun& run : step.reads) rows += run.rows_read();
    return rows;
}

std::int64_t rows_fetched(const Step& step) {
    std::int64_t rows = 0;
    for (const ReadRun& run : step.reads) rows += run.rows_fetched();
    return rows;
}

int check(const char* what, double expected, double found) {
    const bool right = std::abs(found - expected) <= 1e-6 * std::abs(expected);
    std::printf("%s  %-52s expected %.10g, found %.10g\n", right ? "ok   " : "WRONG", what,
                expected, found);
    return right ? 0 : 1;
}

int verdict(int wrong) {
    if (wrong == 0) {
        std::printf("All right. On to the next lesson.\n");
        return 0;
    }
    std::printf(
        "%d not right yet. Edit exercise.cpp beside the lesson's text and run this again.\n",
        wrong);
    return 1;
}

}  // namespace kvtape::lessons
