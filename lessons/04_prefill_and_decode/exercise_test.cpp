#include "lessons/common/tiny.h"
#include "reference_cpu/team.h"

namespace kvtape::exercise {
Range next_tokens(std::int64_t cached, std::int64_t known, std::int64_t prompt, std::int64_t chunk);
}

int main() {
    using namespace kvtape;
    // What every pass of a prompt of 6 tokens and 3 new ones must compute.
    const struct {
        std::int64_t cached, known, chunk;
        Range expected;
    } passes[] = {
        {0, 6, 6, {0, 6}},                     // the whole prompt in one pass
        {0, 6, 4, {0, 4}}, {4, 6, 4, {4, 6}},  // in chunks of 4: 4, then the 2 left
        {0, 6, 1, {0, 1}}, {3, 6, 1, {3, 4}},  // one by one
        {6, 7, 4, {6, 7}}, {7, 8, 4, {7, 8}},  // decode: the newest token
    };
    int wrong = 0;
    for (const auto& pass : passes) {
        const Range found = exercise::next_tokens(pass.cached, pass.known, 6, pass.chunk);
        const std::string what = std::to_string(pass.cached) + " cached, " +
                                 std::to_string(pass.known) + " known, chunk " +
                                 std::to_string(pass.chunk);
        wrong +=
            lessons::check((what + ": begin").c_str(), static_cast<double>(pass.expected.begin),
                           static_cast<double>(found.begin));
        wrong += lessons::check((what + ": end").c_str(), static_cast<double>(pass.expected.end),
                                static_cast<double>(found.end));
    }
    return lessons::verdict(wrong);
}
