#include "tracer/tape_runs.h"

#include "core/check.h"
#include "tracer/run_box.h"
#include "tracer/tape_fields.h"
#include "tracer/tape_limits.h"

namespace kvtape {

using namespace fields;

namespace {

// The first six columns are the same for writes and reads.
template <class Run>
Json spell_box(const RunBox<Run>& box) {
    constexpr const char* kinds[3][3] = {{"", "k", "kv"}, {"", "", "v"}, {"", "", ""}};
    return {box.shared.sequence,
            box.begin[RunBox<Run>::layer],
            box.end[RunBox<Run>::layer],
            box.begin[RunBox<Run>::kv_head],
            box.end[RunBox<Run>::kv_head],
            kinds[box.begin[RunBox<Run>::kind]][box.end[RunBox<Run>::kind]]};
}

template <class Run>
RunBox<Run> box_from(const Json::array_t& columns, const ModelShape& shape) {
    RunBox<Run> box{};
    box.shared.sequence = integer32(columns[0], "sequence");
    const std::string kinds = text(columns[5], "kinds");
    if (kinds != "k" && kinds != "v" && kinds != "kv") {
        fail("the kinds of a run are neither \"k\" nor \"v\" nor \"kv\"");
    }
    box.begin = {integer(columns[1], "layer_begin"), integer(columns[3], "kv_head_begin"),
                 kinds == "v" ? 1 : 0};
    box.end = {integer(columns[2], "layer_end"), integer(columns[4], "kv_head_end"),
               kinds == "k" ? 1 : 2};
    const std::int64_t sides[] = {shape.layers, shape.kv_heads, 2};
    for (std::size_t side = 0; side < 3; ++side) {
        if (!(0 <= box.begin[side] && box.begin[side] < box.end[side] &&
              box.end[side] <= sides[side])) {
            fail("a run names ", side == 0 ? "layers [" : "KV heads [", box.begin[side], ", ",
                 box.end[side], "); the model has ", sides[side]);
        }
    }
    return box;
}

// Refuses boxes that would unfold to more runs than a step may have, before they do.
template <class Run>
void add_box(std::vector<RunBox<Run>>& boxes, const RunBox<Run>& box, std::int64_t& runs) {
    if (box.runs() > max_runs_per_step - runs) {
        fail("the step has more than ", max_runs_per_step, " runs");
    }
    runs += box.runs();
    boxes.push_back(box);
}

}  // namespace

Json spell(const std::vector<WriteRun>& runs) {
    Json json = Json::array();
    for (const RunBox<WriteRun>& box : fold(runs, 1)) {
        Json columns = spell_box(box);
        for (const std::int64_t value :
             {box.shared.position_begin, box.shared.position_end, box.shared.slot_begin}) {
            columns.push_back(value);
        }
        json.push_back(std::move(columns));
    }
    return json;
}

Json spell(const std::vector<ReadRun>& runs, std::int64_t group_size) {
    Json json = Json::array();
    for (const RunBox<ReadRun>& box : fold(runs, group_size)) {
        const ReadRun& run = box.shared;
        Json columns = spell_box(box);
        for (const std::int64_t value :
             {std::int64_t{run.head_begin}, std::int64_t{run.head_end}, run.query_begin,
              run.query_end, run.key_begin, run.key_end}) {
            columns.push_back(value);
        }
        columns.push_back(run.causal);
        json.push_back(std::move(columns));
    }
    return json;
}

std::vector<WriteRun> writes_from(const Json& json, const ModelShape& shape) {
    std::vector<RunBox<WriteRun>> boxes;
    std::int64_t runs = 0;
    for (const Json& line : list(json, "writes")) {
        const Json::array_t& columns = list(line, "writes", write_columns.size());
        RunBox<WriteRun> box = box_from<WriteRun>(columns, shape);
        box.shared.position_begin = integer(columns[6], "position_begin");
        box.shared.position_end = integer(columns[7], "position_end");
        box.shared.slot_begin = integer(columns[8], "slot_begin");
        add_box(boxes, box, runs);
    }
    return unfold(boxes, 1);
}

std::vector<ReadRun> reads_from(const Json& json, const ModelShape& shape) {
    std::vector<RunBox<ReadRun>> boxes;
    std::int64_t runs = 0;
    for (const Json& line : list(json, "reads")) {
        const Json::array_t& columns = list(line, "reads", read_columns.size());
        RunBox<ReadRun> box = box_from<ReadRun>(columns, shape);
        box.shared.head_begin = integer32(columns[6], "group_head_begin");
        box.shared.head_end = integer32(columns[7], "group_head_end");
        if (box.shared.head_begin < 0 || box.shared.head_end > shape.group_size()) {
            fail("a read names heads [", box.shared.head_begin, ", ", box.shared.head_end,
                 ") of a KV head; it has ", shape.group_size());
        }
        box.shared.query_begin = integer(columns[8], "query_begin");
        box.shared.query_end = integer(columns[9], "query_end");
        box.shared.key_begin = integer(columns[10], "key_begin");
        box.shared.key_end = integer(columns[11], "key_end");
        box.shared.causal = boolean(columns[12], "causal");
        add_box(boxes, box, runs);
    }
    return unfold(boxes, shape.group_size());
}

}  // namespace kvtape
