// The decoder without a cache: it keeps the rows of a pass only until the pass is over. While a
// pass runs, its rows need a place like anybody's, so it borrows the contiguous layout; then it
// forgets them, and the next pass must be given the whole prefix again.
#pragma once

#include "reference_cpu/contiguous_cache.h"

namespace kvtape {

class NoCache : public ContiguousCache {
  public:
    using ContiguousCache::ContiguousCache;

    Lane lane() const override { return {"none", "cpu", "none", dtype(), 0, 0, scale()}; }

    // [lesson:no-cache-forgets]
    // No row is held once the pass is over. The memory stays, like that of the activations, for the
    // next pass to write on.
    std::int64_t length(SequenceId) const override { return 0; }
    void commit(SequenceId, std::int64_t) override {}
    std::int64_t bytes_held() const override { return 0; }
    // [/lesson]

    // There is nothing to start with: the fork's first pass is given all its tokens anyway.
    void fork(SequenceId, SequenceId) override {}
};

}  // namespace kvtape
