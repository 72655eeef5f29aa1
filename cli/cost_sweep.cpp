#include "cli/cost_sweep.h"

#include <algorithm>

#include "cli/cache_options.h"
#include "cli/comparison_run.h"
#include "reference_cpu/decoder.h"
#include "tracer/cost_model.h"
#include "tracer/fit.h"

namespace kvtape {
namespace {

constexpr std::int64_t longest_searched = 1 << 24;

std::int64_t tokens_in_pass(bool cached, std::int64_t t) {
    return cached ? 1 : t;
}

// Sums of pass_cost(1) .. pass_cost(n) for each n of `lengths`.
std::vector<FlopCounts> closed_forms(const ModelShape& shape, bool cached,
                                     const std::vector<std::int64_t>& lengths) {
    std::vector<FlopCounts> sums;
    FlopCounts sum;
    std::int64_t t = 0;
    for (const std::int64_t length : lengths) {
        while (t < length) sum += pass_cost(shape, cached, ++t);
        sums.push_back(sum);
    }
    return sums;
}

}  // namespace

FlopCounts pass_cost(const ModelShape& shape, bool cached, std::int64_t t) {
    const std::int64_t tokens = tokens_in_pass(cached, t);
    return expected_flops(shape, {{t - tokens, tokens, 1}});
}

std::vector<DecoderCosts> sweep_costs(
    const Model<float>& model, const std::vector<std::int64_t>& lengths, int threads,
    const std::function<void(std::int64_t, std::int64_t)>& on_pass) {
    const ModelShape& shape = model.config.shape;
    const std::int64_t longest = lengths.back();
    const LengthLimit limit{longest + 1};
    Request request;
    request.prompt = {std::max(model.config.bos_token_id, 0)};
    request.max_tokens = longest;

    Team team(threads);
    std::vector<DecoderCosts> costs;
    const std::int64_t all = longest * (longest + 1) / 2 + 2 * longest;
    std::int64_t done = 0;
    for (const std::string& kind : compared_caches) {
        const bool cached = kind != "none";
        const auto cache = make_cache(kind, {}, shape, limit, request);
        Recorder recorder(team.size());
        Decoder<Recorder> decoder(model, *cache, recorder, team, request, limit);
        DecoderCosts cost{kind, {}, closed_forms(shape, cached, lengths)};
        FlopCounts sum;
        for (std::int64_t t = 1; t <= longest; ++t) {
            sum += decoder.step().step.flops;
            if (t == lengths[cost.measured.size()]) cost.measured.push_back(sum);
            on_pass(done += tokens_in_pass(cached, t), all);
        }
        costs.push_back(std::move(cost));
    }
    return costs;
}

std::optional<double> fitted_exponent(const std::vector<std::int64_t>& lengths,
                                      const std::vector<std::int64_t>& costs) {
    const std::size_t count = lengths.size();
    const std::size_t begin = std::min(count / 2, count - std::min<std::size_t>(count, 2));
    if (std::find(costs.begin(), costs.end(), 0) != costs.end()) return std::nullopt;
    const std::vector<double> x(lengths.begin() + static_cast<std::ptrdiff_t>(begin),
                                lengths.end());
    const std::vector<double> y(costs.begin() + static_cast<std::ptrdiff_t>(begin), costs.end());
    const auto fit = fit_power(x, y);
    return fit ? std::optional(fit->exponent) : std::nullopt;
}

Crossover find_crossover(ModelShape shape, bool cached, bool with_mlp) {
    shape.layers = 1;  // both sides are proportional to it, and sums stay small
    Crossover crossover;
    // Doubles hold the sums: they are compared where they are about equal, and a rounding there
    // could move the answer by one token in millions.
    double linear_sum = 0, attention_sum = 0;
    for (std::int64_t t = 1; t <= longest_searched && !crossover.total; ++t) {
        const FlopCounts pass = pass_cost(shape, cached, t);
        const std::int64_t linear =
            pass[Component::projections] + (with_mlp ? pass[Component::mlp] : 0);
        const std::int64_t attention = pass[Component::attention];
        linear_sum += static_cast<double>(linear);
        attention_sum += static_cast<double>(attention);
        if (!crossover.pass && attention > linear) crossover.pass = t;
        if (attention_sum > linear_sum) crossover.total = t;
    }
    return crossover;
}

}  // namespace kvtape
