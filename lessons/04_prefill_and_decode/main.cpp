// Lesson 4: prefill fills the cache at once, decode appends to it one position at a time.
#include <cstdio>
#include <string>

#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"

using namespace kvtape;

namespace {

constexpr std::int64_t columns = 12;

// One character per position of (layer 0, KV head 0, K), from the runs of the step:
// W written in this step, r read in this step, . empty.
std::string picture(const Step& step) {
    std::string cells(columns, '.');
    const auto of_interest = [](const auto& access) {
        return access.layer == 0 && access.kind == Kind::key;
    };
    for (const RowRead& read : expand(step.reads)) {
        if (of_interest(read) && read.head == 0) cells[read.key] = 'r';
    }
    for (const RowWrite& write : expand(step.writes)) {
        if (of_interest(write) && write.kv_head == 0) cells[write.position] = 'W';
    }
    return cells;
}

// Bytes of the weights that every pass reads, whether it computes one token or many. The embedding
// is not among them: each token looks up one row of it.
std::int64_t weight_bytes(const Model<float>& model) {
    const ModelShape& s = model.config.shape;
    return (model.parameters() - s.vocab * s.hidden) * std::int64_t{sizeof(float)};
}

}  // namespace

int main() {
    const Model<float> model = lessons::tiny_model();
    ContiguousCache cache(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    const std::vector<Step> steps = lessons::decode(model, cache, {5, 9, 2, 7, 4, 1}, 6);

    std::printf(
        "step  phase    position      tokens     rows  rows  FLOPs per  bytes per token:\n");
    std::printf(
        "               012345678901          written  read      token  K and V  weights\n");
    std::int64_t kv_bytes = 0;
    for (const Step& step : steps) {
        const auto tokens = std::ssize(step.spans[0].tokens);
        std::printf("%4ld  %-7s  %s  %6ld  %7ld  %4ld  %9ld  %7ld  %7ld\n", step.index,
                    name(step.phase), picture(step).c_str(), tokens, lessons::rows_written(step),
                    lessons::rows_read(step), step.flops.total() / tokens,
                    step.kv_bytes_read / tokens, weight_bytes(model) / tokens);
        kv_bytes += step.kv_bytes_read;
    }
    std::printf(
        "W written in this step (and read by it), r read, . empty: layer 0, KV head 0, K\n\n");
    std::printf("each pass: %ld bytes of weights, %ld FLOPs of the output head\n",
                weight_bytes(model), steps[0].flops[Component::head]);
    std::printf("passes in all: %td, reading %ld bytes of K and V, %ld bytes of weights\n",
                std::ssize(steps), kv_bytes, std::ssize(steps) * weight_bytes(model));
}
