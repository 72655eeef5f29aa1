// From one row of logits to one token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/random.h"

namespace kvtape {

struct Sampling {
    double temperature = 0;  // 0: greedy, the largest logit
    double top_p = 1;        // keep the likeliest tokens that together reach this probability
    std::uint64_t seed = 0;
};

// Throws Error unless temperature >= 0 and 0 < top_p <= 1.
void validate(const Sampling& sampling);

struct Pick {
    std::int32_t id;
    float logit;
    float margin;  // largest minus second largest logit of the row: small = a near-tie
};

// The smallest id whose logit is NaN or an infinity, if there is one. Finite weights give such a
// logit only when something on the way to it overflowed, and then all logits are worth nothing.
std::optional<std::int32_t> first_not_finite(std::span<const float> logits /* (V) */);

// "the logit of token 7 is NaN", for a logit that is not finite.
std::string not_finite_text(std::int32_t id, float logit);

// Picks from the logits of *one* position, the last one computed. Of equal logits the smaller id
// wins. Throws Error when a logit is not finite.
Pick pick(std::span<const float> logits /* (V) */, const Sampling& sampling, Random& random);

}  // namespace kvtape
