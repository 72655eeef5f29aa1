#include "tracer/track.h"

#include <initializer_list>

namespace kvtape {
namespace {

// A run goes on with one of the last few stretches: there are as many candidates as runs per step
// and track, which is one, or one per query head where heads do not share fetches.
constexpr std::size_t look_back = 8;

template <class Stretch, class GoesOn>
Stretch* last_that(std::vector<Stretch>& stretches, const GoesOn& goes_on) {
    for (std::size_t i = 0; i < look_back && i < stretches.size(); ++i) {
        Stretch& stretch = stretches[stretches.size() - 1 - i];
        if (goes_on(stretch)) return &stretch;
    }
    return nullptr;
}

std::uint64_t hash_of(std::initializer_list<std::int64_t> numbers, std::uint64_t hash) {
    return fnv1a(numbers.begin(), numbers.size() * sizeof(std::int64_t), hash);
}

// Extensible: a decode step, or a stretch of them.
bool one_per_step(std::int64_t count, std::int64_t step_begin, std::int64_t step_end) {
    return count == step_end - step_begin;
}

}  // namespace

std::int64_t ReadStretch::queries(std::int64_t key, std::int64_t first, std::int64_t last) const {
    if (key < key_begin || key >= key_end) return 0;
    std::int64_t begin = query_begin, end = query_end;
    if (step_end - step_begin > 1) {
        begin = std::max(begin, query_begin + (first - step_begin));
        end = std::min(end, query_begin + (last - step_begin) + 1);
    }
    if (causal) begin = std::max(begin, key);
    return std::max<std::int64_t>(end - begin, 0);
}

bool Track::add(std::int64_t step, const WriteRun& run) {
    fingerprint_ =
        hash_of({0, step, run.position_begin, run.position_end, run.slot_begin}, fingerprint_);
    const auto goes_on = [&](const WriteStretch& s) {
        const bool in_this_step = s.step_begin == step;
        const bool by_one_position =
            s.step_end == step && run.rows() == 1 &&
            one_per_step(s.position_end - s.position_begin, s.step_begin, s.step_end);
        return (in_this_step || by_one_position) && s.position_end == run.position_begin &&
               s.slot_of(s.position_end) == run.slot_begin;
    };
    WriteStretch* stretch = last_that(writes_, goes_on);
    if (stretch != nullptr) {
        stretch->step_end = step + 1;
        stretch->position_end = run.position_end;
        longest_write_ = std::max(longest_write_, stretch->step_end - stretch->step_begin);
    } else {
        writes_.push_back({step, step + 1, run.position_begin, run.position_end, run.slot_begin});
    }
    return stretch == nullptr;
}

bool Track::add(std::int64_t step, const ReadRun& run) {
    const std::int64_t heads = run.head_end - run.head_begin;
    fingerprint_ = hash_of({1, step, heads, run.query_begin, run.query_end, run.key_begin,
                            run.key_end, run.causal ? 1 : 0},
                           fingerprint_);
    const auto goes_on = [&](const ReadStretch& s) {
        return s.step_end == step && s.causal && s.heads == heads &&
               s.query_end == run.query_begin && s.key_begin == run.key_begin &&
               one_per_step(s.query_end - s.query_begin, s.step_begin, s.step_end);
    };
    const bool decodes = run.causal && run.query_end == run.query_begin + 1;
    ReadStretch* stretch = decodes ? last_that(reads_, goes_on) : nullptr;
    if (stretch != nullptr) {
        stretch->step_end = step + 1;
        stretch->query_end = run.query_end;
        stretch->key_end = run.key_end;
        longest_read_ = std::max(longest_read_, stretch->step_end - stretch->step_begin);
    } else {
        reads_.push_back({step, step + 1, heads, run.query_begin, run.query_end, run.key_begin,
                          run.key_end, run.causal});
    }
    return stretch == nullptr;
}

}  // namespace kvtape
