// What `kvtape arithmetic` says about a sweep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cost_sweep.h"
#include "cli/json_values.h"

namespace kvtape {

struct ArithmeticReport {
    std::string model = "random weights";
    ModelShape shape;
    std::vector<std::int64_t> lengths;
    std::vector<DecoderCosts> decoders;  // none, contiguous, paged

    Json json() const;
    std::string text() const;

    // Where a count differs from its closed form, or empty.
    std::string first_difference() const;
};

}  // namespace kvtape
