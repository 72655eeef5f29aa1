#include "reference_cpu/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/check.h"
#include "core/exact_math.h"

namespace kvtape {
namespace {

Pick greedy(std::span<const float> logits) {
    std::size_t best = 0;
    float second = -std::numeric_limits<float>::infinity();
    for (std::size_t id = 1; id < logits.size(); ++id) {
        if (logits[id] > logits[best]) {
            second = logits[best];
            best = id;
        } else {
            second = std::max(second, logits[id]);
        }
    }
    return {static_cast<std::int32_t>(best), logits[best], logits[best] - second};
}

}  // namespace

void validate(const Sampling& sampling) {
    if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature)) {
        fail("temperature is ", sampling.temperature, "; use 0 (greedy) or a positive number");
    }
    if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
        fail("top_p is ", sampling.top_p, "; use a number above 0 and at most 1");
    }
}

std::optional<std::int32_t> first_not_finite(std::span<const float> logits) {
    const auto found = std::find_if(logits.begin(), logits.end(),
                                    [](float logit) { return !std::isfinite(logit); });
    if (found == logits.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - logits.begin());
}

std::string not_finite_text(std::int32_t id, float logit) {
    const char* value = std::isnan(logit) ? "NaN" : logit > 0 ? "infinity" : "-infinity";
    return "the logit of token " + std::to_string(id) + " is " + value;
}

Pick pick(std::span<const float> logits, const Sampling& sampling, Random& random) {
    KVTAPE_CHECK(logits.size(), >=, 1u);
    if (const auto id = first_not_finite(logits)) fail(not_finite_text(*id, logits[*id]));
    Pick result = greedy(logits);
    if (sampling.temperature == 0) return result;

    // Weights relative to the likeliest token, in the order of falling likelihood.
    // e^-700 is 1e-304: what lies farther behind is not drawn either, and has no normal exp.
    constexpr double far_behind = -700;
    std::vector<double> weight(logits.size());  // (V)
    for (std::size_t id = 0; id < logits.size(); ++id) {
        const double behind = static_cast<double>(logits[id]) - static_cast<double>(result.logit);
        weight[id] = exact_exp(std::max(behind / sampling.temperature, far_behind));
    }
    std::vector<std::int32_t> order(logits.size());  // (V)
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return weight[a] > weight[b]; });

    // Keep the smallest set that reaches top_p of the whole, and draw from it.
    const double whole = std::accumulate(weight.begin(), weight.end(), 0.0);
    double kept = 0;
    std::size_t count = 0;
    while (count < order.size() && (count == 0 || kept < sampling.top_p * whole)) {
        kept += weight[order[count++]];
    }
    double rest = static_cast<double>(random.unit()) * kept;
    std::size_t chosen = 0;
    while (chosen + 1 < count && rest >= weight[order[chosen]]) rest -= weight[order[chosen++]];
    result.id = order[chosen];
    result.logit = logits[result.id];
    return result;
}

}  // namespace kvtape
