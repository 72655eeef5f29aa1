// What n tokens cost in all, with and without a cache: counted in a run, and from the closed forms.
//
// The definition: decoding starts from one token, and n tokens are fed, one pass each. Pass t
// (t = 1 .. n) feeds one token to a decoder with a cache and all t tokens to one without, and
// computes one row of logits. The cost of n tokens is the sum over these passes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference_cpu/model.h"
#include "tracer/flops.h"

namespace kvtape {

struct DecoderCosts {
    std::string cache;                    // "none", "contiguous" or "paged"
    std::vector<FlopCounts> measured;     // (lengths), by the recorder
    std::vector<FlopCounts> closed_form;  // (lengths), tracer/cost_model.h
};

// Runs each decoder once to the longest length. `lengths` ascend, from 1 to max_model_len - 1.
//   on_pass   called after each pass with the tokens computed so far and in all
std::vector<DecoderCosts> sweep_costs(
    const Model<float>& model, const std::vector<std::int64_t>& lengths, int threads,
    const std::function<void(std::int64_t, std::int64_t)>& on_pass);

// FLOPs of pass t alone.
FlopCounts pass_cost(const ModelShape& shape, bool cached, std::int64_t t);

// The exponent b of a cost that grows like n^b: the slope of the least-squares line through
// (log n, log cost) over the longer half of the lengths. Nothing below two lengths or for a cost of
// 0.
std::optional<double> fitted_exponent(const std::vector<std::int64_t>& lengths,
                                      const std::vector<std::int64_t>& costs);
inline constexpr const char* fit_method =
    "least squares in log-log over the longer half of the lengths";

// Where attention overtakes the linear layers of the transformer blocks: the smallest t (pass) and
// the smallest n (sum of passes) with attention > linear. The number of layers does not matter.
// Nothing if that is beyond 2^24 tokens.
struct Crossover {
    std::optional<std::int64_t> pass;
    std::optional<std::int64_t> total;
};
Crossover find_crossover(ModelShape shape, bool cached, bool with_mlp);

}  // namespace kvtape
