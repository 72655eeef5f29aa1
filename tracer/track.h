// The accesses to one track, that is to the rows of one sequence, layer, KV head and kind, over
// time.
//
// A decode step writes one row and reads all of them: one run each. A hundred decode steps would be
// two hundred runs that tell nothing new, because each goes on where the one before stopped. A
// *stretch* is such a row of runs, of neighbouring steps that advance by one position per step; or
// what one step wrote or read without a gap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/fnv1a.h"
#include "tracer/run.h"

namespace kvtape {

struct WriteStretch {
    std::int64_t step_begin, step_end;  // more than one step: one position in each
    std::int64_t position_begin, position_end;
    std::int64_t slot_begin;

    std::int64_t step_of(std::int64_t position) const {
        return step_end - step_begin > 1 ? step_begin + (position - position_begin) : step_begin;
    }
    std::int64_t slot_of(std::int64_t position) const {
        return slot_begin + (position - position_begin);
    }
    // The positions written in steps [first, last].
    std::int64_t begin_in(std::int64_t first) const {
        return step_end - step_begin > 1
                   ? position_begin + std::max<std::int64_t>(first - step_begin, 0)
                   : position_begin;
    }
    std::int64_t end_in(std::int64_t last) const {
        return step_end - step_begin > 1
                   ? std::min(position_end, position_begin + (last - step_begin) + 1)
                   : position_end;
    }
};

struct ReadStretch {
    std::int64_t step_begin, step_end;  // more than one step: causal, one query in each
    std::int64_t heads;                 // query heads that share each fetch
    std::int64_t query_begin, query_end;
    std::int64_t key_begin, key_end;
    bool causal;

    // Queries of steps [first, last] that read the row at `key`.
    std::int64_t queries(std::int64_t key, std::int64_t first, std::int64_t last) const;
};

class Track {
  public:
    // Steps come in order. Returns whether the run began a new stretch.
    bool add(std::int64_t step, const WriteRun& run);
    bool add(std::int64_t step, const ReadRun& run);

    // Calls `visit(stretch)` for each stretch that wrote in steps [first, last], in the order of
    // time.
    template <class Visit>
    void for_each_write(std::int64_t first, std::int64_t last, const Visit& visit) const {
        for_each(writes_, longest_write_, first, last, visit);
    }

    // The same for stretches that read.
    template <class Visit>
    void for_each_read(std::int64_t first, std::int64_t last, const Visit& visit) const {
        for_each(reads_, longest_read_, first, last, visit);
    }

    // A hash of all runs and their steps, but not of the layer, head and kind.
    std::uint64_t fingerprint() const { return fingerprint_; }

  private:
    // The stretches are sorted by their first step. One that began long before `first` may still
    // have gone on then, but not longer before than the longest of all lasted.
    template <class Stretch, class Visit>
    static void for_each(const std::vector<Stretch>& stretches, std::int64_t longest,
                         std::int64_t first, std::int64_t last, const Visit& visit) {
        auto stretch = std::upper_bound(
            stretches.begin(), stretches.end(), first - longest,
            [](std::int64_t step, const Stretch& s) { return step < s.step_begin; });
        for (; stretch != stretches.end() && stretch->step_begin <= last; ++stretch) {
            if (stretch->step_end > first) visit(*stretch);
        }
    }

    std::vector<WriteStretch> writes_;
    std::vector<ReadStretch> reads_;
    std::int64_t longest_write_ = 1;  // in steps
    std::int64_t longest_read_ = 1;
    std::uint64_t fingerprint_ = fnv1a_start;
};

}  // namespace kvtape
