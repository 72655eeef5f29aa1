// Lesson 1: one token through one layer. What is computed, and what of it is kept.
#include <cstdio>

#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"

using namespace kvtape;

namespace {

// Everything a layer computes for one token. Only k and v are kept when the pass is over.
void print_activations(const char* model, const ModelShape& s) {
    const struct {
        const char* name;
        std::int64_t numbers;
        bool kept;
    } activations[] = {
        {"x, normed for attention", s.hidden, false},
        {"q, the queries", s.heads * s.head_dim, false},
        {"k, the keys", s.kv_heads * s.head_dim, true},
        {"v, the values", s.kv_heads * s.head_dim, true},
        {"attended, of all heads", s.heads * s.head_dim, false},
        {"attention's addition to x", s.hidden, false},
        {"x, normed for the MLP", s.hidden, false},
        {"gate and up", 2 * s.ffn, false},
        {"the MLP's addition to x", s.hidden, false},
    };
    std::printf("%s: one token, one layer\n", model);
    std::int64_t kept = 0;
    std::int64_t discarded = 0;
    for (const auto& activation : activations) {
        std::printf("  %-28s %7ld numbers   %s\n", activation.name, activation.numbers,
                    activation.kept ? "KEPT" : "discarded");
        (activation.kept ? kept : discarded) += activation.numbers;
    }
    std::printf("  kept %ld of %ld numbers, %.1f %%\n\n", kept, kept + discarded,
                100.0 * static_cast<double>(kept) / static_cast<double>(kept + discarded));
}

}  // namespace

int main() {
    const ModelShape tiny = lessons::tiny_shape();
    print_activations("tiny model (d 16, H 4, G 2, D 4, F 32)", tiny);
    print_activations("Llama 3 70B (d 8192, H 64, G 8, D 128, F 28672)", {.layers = 80,
                                                                          .hidden = 8192,
                                                                          .heads = 64,
                                                                          .kv_heads = 8,
                                                                          .head_dim = 128,
                                                                          .ffn = 28672,
                                                                          .vocab = 128256});

    // Feed one token to the tiny model and look at the tape.
    const std::vector<std::int32_t> tokens = {5};
    const Model<float> model = lessons::tiny_model();
    ContiguousCache cache(tiny, KvDtype::f32, lessons::tiny_max_model_len);
    const std::vector<Step> steps = lessons::decode(model, cache, tokens, 1);

    std::printf("the rows that %s left in the cache of the tiny model\n",
                tokens.size() == 1 ? "one token" : "the tokens");
    for (const RowWrite& row : expand(steps[0].writes)) {
        std::printf("  layer %d, KV head %d, %s: position %ld, slot %ld\n", row.layer, row.kv_head,
                    row.kind == Kind::key ? "K" : "V", row.position, row.slot);
    }
    std::printf("%ld rows of D = %ld numbers, %ld bytes as f32\n", lessons::rows_written(steps[0]),
                tiny.head_dim, steps[0].kv_bytes_written);
}
