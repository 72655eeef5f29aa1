// Expanding runs is a pair of loops. The canonical form takes more thought: it must depend only on
// the rows that were accessed, not on how threads cut them into runs. So it is built from what the
// rows determine: how often each position was accessed.
#include "tracer/run.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kvtape {
namespace {

struct Range {
    std::int64_t begin, end;
    friend auto operator<=>(const Range&, const Range&) = default;
};

// Ranges that cover every point as often as the given ones do. There are many such lists; this is
// the one whose k-th layer covers the points that are covered k times or more.
std::vector<Range> layered(const std::vector<Range>& ranges) {
    std::vector<std::int64_t> begins, ends;
    for (const Range& range : ranges) {
        if (range.begin >= range.end) continue;
        begins.push_back(range.begin);
        ends.push_back(range.end);
    }
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());

    std::vector<Range> result;
    std::vector<std::int64_t> open;  // where the layers began that have not ended
    std::size_t b = 0;
    for (std::size_t e = 0; e < ends.size();) {
        const bool begins_first = b < begins.size() && begins[b] < ends[e];
        const bool cancels = b < begins.size() && begins[b] == ends[e];
        if (begins_first) {
            open.push_back(begins[b++]);
        } else if (cancels) {  // one ends where another begins: the layer goes on
            ++b;
            ++e;
        } else {
            result.push_back({open.back(), ends[e++]});
            open.pop_back();
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

// Writes that may join: the same rows of storage, at the same distance between slot and position.
auto group_of(const WriteRun& run) {
    return std::make_tuple(run.sequence, run.layer, run.kv_head, run.kind,
                           run.slot_begin - run.position_begin);
}

// Reads that may join: the same rows of storage, fetched for the same query heads.
auto group_of(const ReadRun& run) {
    return std::make_tuple(run.sequence, run.layer, run.kv_head, run.head_begin, run.head_end,
                           run.kind);
}

std::int64_t keys_end(const ReadRun& run, std::int64_t query) {
    return run.causal ? query + 1 : run.key_end;
}

// A run by itself: queries that read nothing are dropped, and one query that reads up to itself is
// called causal.
void append_alone(ReadRun run, std::vector<ReadRun>& result) {
    if (run.causal) {
        run.query_begin = std::max(run.query_begin, run.key_begin);
        run.key_end = run.query_end;
    }
    if (run.query_begin >= run.query_end || run.key_begin >= run.key_end) return;
    if (run.query_end == run.query_begin + 1 && run.key_end == run.query_end) run.causal = true;
    result.push_back(run);
}

// Makes the run among `open` that can go on with `keys` at query `query` do so, and takes it out;
// or begins a new run like `model`.
ReadRun take_further(std::vector<ReadRun>& open, const ReadRun& model, std::int64_t query,
                     Range keys) {
    const auto causally = [&](const ReadRun& run) {
        return run.causal && run.key_begin == keys.begin && keys.end == query + 1;
    };
    const auto fully = [&](const ReadRun& run) {
        const bool may_be_full = !run.causal || run.query_end == run.query_begin + 1;
        return may_be_full && run.key_begin == keys.begin && run.key_end == keys.end;
    };
    auto found = std::find_if(open.begin(), open.end(), causally);
    if (found == open.end()) found = std::find_if(open.begin(), open.end(), fully);

    ReadRun run = model;
    if (found == open.end()) {
        run.query_begin = query;
        run.key_begin = keys.begin;
        run.causal = keys.end == query + 1;
    } else {
        run = *found;
        run.causal = run.causal && keys.end == query + 1;
        open.erase(found);
    }
    run.query_end = query + 1;
    run.key_end = keys.end;
    return run;
}

// Joins the runs [next, end) of one group, sorted: goes through the queries in order, takes the
// layered key ranges of each, and lets a range go on from the query before where it can.
void join_group(const ReadRun* next, const ReadRun* end, std::vector<ReadRun>& result) {
    if (end - next == 1) return append_alone(*next, result);

    std::vector<const ReadRun*> active;  // runs that contain `query`
    std::vector<ReadRun> open;           // joined so far, up to the query before
    const auto close = [&] {
        result.insert(result.end(), open.begin(), open.end());
        open.clear();
    };
    for (std::int64_t query = next->query_begin; next != end || !active.empty(); ++query) {
        if (active.empty() && next->query_begin > query) {  // nobody reads for a while
            close();
            query = next->query_begin;
        }
        for (; next != end && next->query_begin <= query; ++next) active.push_back(next);
        std::erase_if(active, [&](const ReadRun* run) { return run->query_end <= query; });

        std::vector<Range> keys;
        for (const ReadRun* run : active) keys.push_back({run->key_begin, keys_end(*run, query)});
        std::vector<ReadRun> joined;
        for (const Range& range : layered(keys)) {
            joined.push_back(take_further(open, *active.front(), query, range));
        }
        close();
        open.swap(joined);
    }
    close();
}

}  // namespace

std::int64_t ReadRun::rows_fetched() const {
    if (!causal) {
        const bool empty = query_begin >= query_end || key_begin >= key_end;
        return empty ? 0 : (query_end - query_begin) * (key_end - key_begin);
    }
    const std::int64_t first = std::max(query_begin, key_begin);  // earlier queries read nothing
    const std::int64_t queries = query_end - first;
    if (queries <= 0) return 0;
    return queries * (first + 1 - key_begin) + queries * (queries - 1) / 2;
}

std::vector<RowWrite> expand(const std::vector<WriteRun>& runs) {
    std::vector<RowWrite> rows;
    for (const WriteRun& run : runs) {
        for (std::int64_t i = 0; i < run.rows(); ++i) {
            rows.push_back({run.sequence, run.layer, run.kv_head, run.kind, run.position_begin + i,
                            run.slot_begin + i});
        }
    }
    return rows;
}

std::vector<RowRead> expand(const std::vector<ReadRun>& runs) {
    std::vector<RowRead> rows;
    for (const ReadRun& run : runs) {
        for (std::int32_t head = run.head_begin; head < run.head_end; ++head) {
            for (std::int64_t query = run.query_begin; query < run.query_end; ++query) {
                for (std::int64_t key = run.key_begin; key < keys_end(run, query); ++key) {
                    rows.push_back({run.sequence, run.layer, head, run.kind, query, key});
                }
            }
        }
    }
    return rows;
}

std::vector<WriteRun> canonical(std::vector<WriteRun> runs) {
    std::sort(runs.begin(), runs.end(),
              [](const WriteRun& a, const WriteRun& b) { return group_of(a) < group_of(b); });
    std::vector<WriteRun> result;
    std::vector<Range> positions;
    for (std::size_t i = 0; i < runs.size();) {
        const WriteRun first = runs[i];
        positions.clear();
        for (; i < runs.size() && group_of(runs[i]) == group_of(first); ++i) {
            positions.push_back({runs[i].position_begin, runs[i].position_end});
        }
        for (const Range& range : layered(positions)) {
            WriteRun run = first;
            run.position_begin = range.begin;
            run.position_end = range.end;
            run.slot_begin = first.slot_begin + (range.begin - first.position_begin);
            result.push_back(run);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<ReadRun> canonical(std::vector<ReadRun> runs) {
    std::sort(runs.begin(), runs.end());
    std::vector<ReadRun> result;
    for (std::size_t i = 0; i < runs.size();) {
        std::size_t end = i;
        while (end < runs.size() && group_of(runs[end]) == group_of(runs[i])) ++end;
        join_group(runs.data() + i, runs.data() + end, result);
        i = end;
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace kvtape
