#include "tracer/run_box.h"

#include <algorithm>

namespace kvtape {
namespace {

// Query heads are numbered over all KV heads; in a box they count from the first of their group.
void shift_heads(WriteRun&, std::int64_t) {}
void shift_heads(ReadRun& run, std::int64_t by) {
    run.head_begin = static_cast<std::int32_t>(run.head_begin + by);
    run.head_end = static_cast<std::int32_t>(run.head_end + by);
}

template <class Run>
RunBox<Run> box_of(Run run, std::int64_t group_size) {
    RunBox<Run> box;
    box.begin = {run.layer, run.kv_head, static_cast<std::int64_t>(run.kind)};
    for (std::size_t side = 0; side < 3; ++side) box.end[side] = box.begin[side] + 1;
    shift_heads(run, -run.kv_head * group_size);
    run.layer = run.kv_head = 0;
    run.kind = Kind::key;
    box.shared = run;
    return box;
}

// Joins boxes that touch along one side and are equal in everything else.
template <class Run>
void join_along(typename RunBox<Run>::Side side, std::vector<RunBox<Run>>& boxes) {
    const auto rest = [side](RunBox<Run> box) {
        box.begin[side] = box.end[side] = 0;
        return box;
    };
    std::sort(boxes.begin(), boxes.end(), [&](const RunBox<Run>& a, const RunBox<Run>& b) {
        const auto order = rest(a) <=> rest(b);
        return order != 0 ? order < 0 : a.begin[side] < b.begin[side];
    });
    std::vector<RunBox<Run>> joined;
    for (const RunBox<Run>& box : boxes) {
        const bool touches = !joined.empty() && joined.back().end[side] == box.begin[side] &&
                             rest(joined.back()) == rest(box);
        if (touches) {
            joined.back().end[side] = box.end[side];
        } else {
            joined.push_back(box);
        }
    }
    boxes.swap(joined);
}

}  // namespace

template <class Run>
std::vector<RunBox<Run>> fold(const std::vector<Run>& runs, std::int64_t group_size) {
    std::vector<RunBox<Run>> boxes;
    for (const Run& run : runs) boxes.push_back(box_of(run, group_size));
    join_along(RunBox<Run>::kind, boxes);
    join_along(RunBox<Run>::kv_head, boxes);
    join_along(RunBox<Run>::layer, boxes);
    std::sort(boxes.begin(), boxes.end());
    return boxes;
}

template <class Run>
std::vector<Run> unfold(const std::vector<RunBox<Run>>& boxes, std::int64_t group_size) {
    std::vector<Run> runs;
    for (const RunBox<Run>& box : boxes) {
        const auto &begin = box.begin, &end = box.end;
        for (std::int64_t layer = begin[0]; layer < end[0]; ++layer) {
            for (std::int64_t kv_head = begin[1]; kv_head < end[1]; ++kv_head) {
                for (std::int64_t kind = begin[2]; kind < end[2]; ++kind) {
                    Run run = box.shared;
                    run.layer = static_cast<std::int32_t>(layer);
                    run.kv_head = static_cast<std::int32_t>(kv_head);
                    run.kind = static_cast<Kind>(kind);
                    shift_heads(run, kv_head * group_size);
                    runs.push_back(run);
                }
            }
        }
    }
    std::sort(runs.begin(), runs.end());
    return runs;
}

template std::vector<RunBox<WriteRun>> fold(const std::vector<WriteRun>&, std::int64_t);
template std::vector<RunBox<ReadRun>> fold(const std::vector<ReadRun>&, std::int64_t);
template std::vector<WriteRun> unfold(const std::vector<RunBox<WriteRun>>&, std::int64_t);
template std::vector<ReadRun> unfold(const std::vector<RunBox<ReadRun>>&, std::int64_t);

}  // namespace kvtape
