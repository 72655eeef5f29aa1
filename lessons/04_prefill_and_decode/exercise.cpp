// Exercise 4. Which tokens does a pass compute?
#include "reference_cpu/team.h"  // for Range {begin, end}

namespace kvtape::exercise {

// A sequence has `known` tokens so far, of which the first `prompt` are the prompt. The cache holds
// the first `cached` positions. The prompt is computed in passes of `chunk` tokens; after it, each
// pass computes what is missing.
//
// Return the positions [begin, end) that the next pass computes.
Range next_tokens(std::int64_t cached, std::int64_t known, std::int64_t prompt,
                  std::int64_t chunk) {
    (void)cached;
    (void)prompt;
    (void)chunk;
    return {0, known};  // right without a cache, but it computes everything again
}

}  // namespace kvtape::exercise
