// Lesson 5: the arithmetic, measured. FLOPs counted by the kernels, beside the closed forms.
#include <cmath>
#include <cstdio>

#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "tracer/cost_model.h"

using namespace kvtape;

namespace {

struct Cost {
    FlopCounts measured;
    FlopCounts closed_form;
};

// Generates n tokens after a prompt of one, and adds up what the passes cost.
Cost cost_of(const Model<float>& model, KvCache& cache, std::int64_t n) {
    Cost cost;
    for (const Step& step : lessons::decode(model, cache, {5}, n)) {
        cost.measured += step.flops;
        for (const SpanRecord& span : step.spans) {
            cost.closed_form +=
                expected_flops(model.config.shape,
                               {{span.first_position, std::ssize(span.tokens), span.logit_rows}});
        }
    }
    return cost;
}

std::int64_t linear(const FlopCounts& flops) {
    return flops[Component::projections] + flops[Component::mlp];
}

// A length and what it cost.
struct Point {
    std::int64_t n, flops;
};

// The power of n that leads from one point to the next: how often the cost doubles when n does.
double exponent(Point from, Point to) {
    const auto growth = [](std::int64_t before, std::int64_t after) {
        return std::log(static_cast<double>(after) / static_cast<double>(before));
    };
    return growth(from.flops, to.flops) / growth(from.n, to.n);
}

void print_growth(const char* title, const Model<float>& model, KvCache& cache) {
    std::printf("%s\n    n  projections + MLP  power    attention  power  equal to closed forms\n",
                title);
    Point linear_before{};
    Point attention_before{};
    for (const std::int64_t n : {8, 16, 32, 64, 128}) {
        const Cost cost = cost_of(model, cache, n);
        const Point linear_now{n, linear(cost.measured)};
        const Point attention_now{n, cost.measured[Component::attention]};
        std::printf("%5ld  %17ld  ", n, linear_now.flops);
        if (linear_before.n > 0) {
            std::printf("%5.2f  %11ld  %5.2f", exponent(linear_before, linear_now),
                        attention_now.flops, exponent(attention_before, attention_now));
        } else {
            std::printf("%5s  %11ld  %5s", "", attention_now.flops, "");
        }
        std::printf("  %s\n", cost.measured == cost.closed_form ? "yes" : "NO");
        linear_before = linear_now;
        attention_before = attention_now;
        cache.release(0);
    }
    std::printf("\n");
}

// One pass without a cache over a prefix of t tokens, for a model of ordinary size.
void print_share_of_attention(const ModelShape& shape) {
    std::printf("share of attention in one pass over t tokens without a cache, Llama 3 8B\n");
    for (const std::int64_t t : {256, 1024, 4096, 16384, 65536, 262144}) {
        const FlopCounts flops = expected_flops(shape, {{0, t, 1}});
        const auto attention = static_cast<double>(flops[Component::attention]);
        std::printf("  t = %6ld  %5.1f %%\n", t,
                    100 * attention / (attention + static_cast<double>(linear(flops))));
    }
}

}  // namespace

int main() {
    const Model<float> model = lessons::tiny_model();
    ContiguousCache with(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    NoCache without(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    print_growth("FLOPs to generate n tokens with a cache", model, with);
    print_growth("FLOPs to generate n tokens without a cache", model, without);
    print_share_of_attention({.layers = 32,
                              .hidden = 4096,
                              .heads = 32,
                              .kv_heads = 8,
                              .head_dim = 128,
                              .ffn = 14336,
                              .vocab = 128256});
}
