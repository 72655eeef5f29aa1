// Lesson 6: multi-head, grouped-query and multi-query attention, and the memory a token needs.
#include <cstdio>

#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"
#include "tracer/cost_model.h"

using namespace kvtape;

namespace {

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t GiB = 1024 * 1024 * KiB;

constexpr KvDtype dtype = KvDtype::f16;  // what the rows are stored in

// The last of 20 decode steps, measured.
void print_measured(const char* layout, std::int64_t kv_heads) {
    const Model<float> model = lessons::tiny_model(kv_heads);
    ContiguousCache cache(model.config.shape, dtype, lessons::tiny_max_model_len);
    const Step step = lessons::decode(model, cache, {5}, 20).back();
    std::printf("%-20s %2ld %13ld %10ld %13ld %12ld\n", layout, kv_heads,
                lessons::rows_written(step), lessons::rows_read(step), lessons::rows_fetched(step),
                step.kv_bytes_read);
}

// A model of 80 layers with D = 128, as Llama 3 70B.
void print_footprint(std::int64_t kv_heads) {
    const ModelShape shape{.layers = 80,
                           .hidden = 8192,
                           .heads = 64,
                           .kv_heads = kv_heads,
                           .head_dim = 128,
                           .ffn = 28672,
                           .vocab = 128256};
    const std::int64_t bytes = kv_bytes_per_token(shape, dtype);
    std::printf("%13ld %12ld B = %6.1f KiB %16ld\n", kv_heads, bytes,
                static_cast<double>(bytes) / KiB, 40 * GiB / bytes);
}

}  // namespace

int main() {
    std::printf("tiny model, H = 4, D = 4, L = 2, %s: a decode step with 20 keys\n", name(dtype));
    std::printf("%-20s %2s %13s %10s %13s %12s\n", "layout", "G", "rows written", "rows read",
                "rows fetched", "bytes read");
    print_measured("multi-head", 4);
    print_measured("grouped-query", 2);
    print_measured("multi-query", 1);

    std::printf("\n80 layers, H = 64, D = 128, %s\n", name(dtype));
    std::printf("%13s %27s %16s\n", "G (KV heads)", "per token", "tokens in 40 GiB");
    print_footprint(64);
    print_footprint(8);
    print_footprint(1);
}
