// The three decoders on one prompt, on one tape, as `compare` and `demo` run them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/cache_options.h"
#include "cli/model_options.h"
#include "cli/tape_file.h"
#include "reference_cpu/compare.h"

namespace kvtape {

struct ComparisonRun {
    Comparison comparison;
    std::int64_t prompt_tokens = 0;
    std::int64_t logit_rows = 0;  // of all decoders, each compared with the first one's
    std::int64_t kv_rows = 0;  // stored by all decoders, each compared with what was first stored
    std::int64_t tape_steps = 0;
    std::int64_t tape_bytes = 0;
};

// The lanes of the tape, in this order.
inline const std::vector<std::string> compared_caches = {"none", "contiguous", "paged"};

// Who watches the run: `begins` is called when nothing stands in its way any more, `step` after
// every pass. Either may be empty.
struct ComparisonWatch {
    std::function<void()> begins;
    std::function<void(const Step&)> step;
};

// Runs NoCache, ContiguousCache and PagedCache in lockstep.
ComparisonRun run_comparison(const LoadedModel& loaded, const Request& request, LengthLimit limit,
                             const CacheOptions& cache_options, int threads,
                             const TapeOptions& tape_options, const ComparisonWatch& watch);

}  // namespace kvtape
