#include "lessons/common/tiny.h"

namespace kvtape::exercise {
std::int64_t tokens_per_sequence(const ModelShape& shape, KvDtype dtype, std::int64_t budget_bytes,
                                 std::int64_t sequences);
}

int main() {
    using namespace kvtape;
    const auto model = [](std::int64_t layers, std::int64_t heads, std::int64_t kv_heads) {
        return ModelShape{.layers = layers,
                          .hidden = 8192,
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .head_dim = 128,
                          .ffn = 28672,
                          .vocab = 128256};
    };
    constexpr std::int64_t GiB = std::int64_t{1} << 30;
    const struct {
        const char* what;
        ModelShape shape;
        KvDtype dtype;
        std::int64_t budget, sequences;
        std::int64_t expected;
    } questions[] = {
        // 2 * 80 * 8 * 128 * 2 B = 320 KiB per token; 10 GiB / 320 KiB = 32768.
        {"70B, G = 8, fp16, 10 GiB, 1 user", model(80, 64, 8), KvDtype::f16, 10 * GiB, 1, 32768},
        {"the same with 20 users", model(80, 64, 8), KvDtype::f16, 10 * GiB, 20, 1638},
        {"the same in fp8", model(80, 64, 8), KvDtype::fp8_e4m3, 10 * GiB, 20, 3276},
        {"with G = 64 instead", model(80, 64, 64), KvDtype::f16, 10 * GiB, 20, 204},
        {"8B, G = 8, bf16, 2 GiB, 3 users", model(32, 32, 8), KvDtype::bf16, 2 * GiB, 3, 5461},
    };
    int wrong = 0;
    for (const auto& q : questions) {
        wrong += lessons::check(q.what, static_cast<double>(q.expected),
                                static_cast<double>(exercise::tokens_per_sequence(
                                    q.shape, q.dtype, q.budget, q.sequences)));
    }
    return lessons::verdict(wrong);
}
