#include "tracer/tape_format.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/check.h"
#include "tracer/run_box.h"
#include "tracer/step_check.h"
#include "tracer/tape_fields.h"
#include "tracer/tape_limits.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

using namespace fields;

// What the numbers of a run, and of "flops", are. The header lists the names, so that a tape explains
// itself.
constexpr std::array write_columns = {"sequence",      "layer_begin", "layer_end",
                                      "kv_head_begin", "kv_head_end", "kinds",
                                      "position_begin", "position_end", "slot_begin"};
constexpr std::array read_columns = {"sequence",       "layer_begin",      "layer_end",
                                     "kv_head_begin",  "kv_head_end",      "kinds",
                                     "group_head_begin", "group_head_end", "query_begin",
                                     "query_end",      "key_begin",        "key_end",
                                     "causal"};

Json flop_columns() {
    Json names = Json::array();
    for (int i = 0; i < component_count; ++i) names.push_back(name(static_cast<Component>(i)));
    return names;
}

// ---- floats -----------------------------------------------------------------------------------

Json spell(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return static_cast<double>(value);
}

float float_from(const Json& value, const char* what) {
    if (value.is_number()) {
        const double number = value.get<double>();
        const auto narrow = static_cast<float>(std::abs(number) <= std::numeric_limits<float>::max()
                                                   ? number
                                                   : 0.0);
        if (static_cast<double>(narrow) != number) {
            fail("\"", what, "\" is ", number, ", which is not a 32-bit float");
        }
        return narrow;
    }
    if (value == "NaN") return std::numeric_limits<float>::quiet_NaN();
    if (value == "Infinity") return std::numeric_limits<float>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<float>::infinity();
    fail("\"", what, "\" is not a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

// ---- tokens -----------------------------------------------------------------------------------

std::string hex(std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string bytes_from_hex(const std::string& text) {
    const auto digit = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        fail("\"bytes\" of a token are not pairs of the digits 0-9 and a-f");
    };
    if (text.size() % 2 != 0) fail("\"bytes\" of a token have an odd number of hex digits");
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    }
    return bytes;
}

Json spell(const TokenText& token) {
    Json json = {{"id", token.id}, {"text", printable(token.bytes)}};
    if (!is_utf8(token.bytes)) json["bytes"] = hex(token.bytes);
    return json;
}

TokenText token_from(const Json& json) {
    TokenText token;
    token.id = integer32(member(json, "id"), "id");
    token.bytes = text(member(json, "text"), "text");
    if (const Json* bytes = optional(json, "bytes")) {
        token.bytes = bytes_from_hex(text(*bytes, "bytes"));
    }
    return token;
}

Json spell(const SpanRecord& span) {
    Json json = {{"sequence", span.sequence}, {"first_position", span.first_position}};
    Json& tokens = json["tokens"] = Json::array();
    for (const TokenText& token : span.tokens) tokens.push_back(spell(token));
    json["logit_rows"] = span.logit_rows;
    for (const Sampled& sampled : span.sampled) {
        Json picked = spell(sampled.token);
        picked["logit"] = spell(sampled.logit);
        picked["margin"] = spell(sampled.margin);
        json["sampled"] = std::move(picked);
    }
    return json;
}

SpanRecord span_from(const Json& json) {
    SpanRecord span;
    span.sequence = integer32(member(json, "sequence"), "sequence");
    span.first_position = integer(member(json, "first_position"), "first_position");
    for (const Json& token : list(member(json, "tokens"), "tokens")) {
        span.tokens.push_back(token_from(token));
    }
    span.logit_rows = integer(member(json, "logit_rows"), "logit_rows");
    if (const Json* sampled = optional(json, "sampled")) {
        span.sampled.push_back({token_from(*sampled), float_from(member(*sampled, "logit"), "logit"),
                                float_from(member(*sampled, "margin"), "margin")});
    }
    return span;
}

// ---- runs -------------------------------------------------------------------------------------

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
        for (const std::int64_t value : {std::int64_t{run.head_begin}, std::int64_t{run.head_end},
                                         run.query_begin, run.query_end, run.key_begin,
                                         run.key_end}) {
            columns.push_back(value);
        }
        columns.push_back(run.causal);
        json.push_back(std::move(columns));
    }
    return json;
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

// ---- what most steps do not have --------------------------------------------------------------

Json spell(const PoolEvent& event) {
    Json json = {{"event", name(event.kind)}, {"sequence", event.sequence}};
    if (event.block >= 0) json["block"] = event.block;
    if (event.from_block >= 0) json["from_block"] = event.from_block;
    return json;
}

PoolEvent pool_event_from(const Json& json) {
    PoolEvent event;
    const std::string kind = text(member(json, "event"), "event");
    int code = 0;
    while (code <= static_cast<int>(PoolEventKind::resume) &&
           kind != name(static_cast<PoolEventKind>(code))) {
        ++code;
    }
    if (code > static_cast<int>(PoolEventKind::resume)) fail("there is no such pool event");
    event.kind = static_cast<PoolEventKind>(code);
    event.sequence = integer32(member(json, "sequence"), "sequence");
    if (const Json* block = optional(json, "block")) event.block = integer(*block, "block");
    if (const Json* from = optional(json, "from_block")) {
        event.from_block = integer(*from, "from_block");
    }
    return event;
}

Json spell(const StoreLoss& loss) {
    return {{"layer", loss.layer},
            {"saturated", loss.saturated},
            {"non_finite", loss.non_finite},
            {"worst_relative_error", spell(loss.worst_relative_error)}};
}

StoreLoss loss_from(const Json& json) {
    return {integer32(member(json, "layer"), "layer"),
            integer(member(json, "saturated"), "saturated"),
            integer(member(json, "non_finite"), "non_finite"),
            float_from(member(json, "worst_relative_error"), "worst_relative_error")};
}

Json spell(const AttentionWeights& of) {
    Json weights = Json::array();
    for (const float weight : of.weights) weights.push_back(spell(weight));
    return {{"sequence", of.sequence},
            {"layer", of.layer},
            {"head", of.head},
            {"query", of.query},
            {"weights", std::move(weights)}};
}

AttentionWeights attention_from(const Json& json) {
    AttentionWeights of;
    of.sequence = integer32(member(json, "sequence"), "sequence");
    of.layer = integer32(member(json, "layer"), "layer");
    of.head = integer32(member(json, "head"), "head");
    of.query = integer(member(json, "query"), "query");
    for (const Json& weight : list(member(json, "weights"), "weights")) {
        of.weights.push_back(float_from(weight, "weights"));
    }
    return of;
}

template <class Item>
void spell_list(Json& json, const char* key, const std::vector<Item>& items) {
    if (items.empty()) return;
    Json& target = json[key] = Json::array();
    for (const Item& item : items) target.push_back(spell(item));
}

template <class Item>
std::vector<Item> list_from(const Json& json, const char* key, Item (*from)(const Json&)) {
    std::vector<Item> items;
    if (const Json* found = optional(json, key)) {
        for (const Json& item : list(*found, key)) items.push_back(from(item));
    }
    return items;
}

// ---- header -----------------------------------------------------------------------------------

Lane lane_from(const Json& json) {
    Lane lane;
    lane.name = text(member(json, "name"), "name");
    lane.backend = text(member(json, "backend"), "backend");
    lane.cache = text(member(json, "cache"), "cache");
    lane.kv_cache_dtype = parse_kv_dtype(text(member(json, "kv_cache_dtype"), "kv_cache_dtype"));
    lane.block_size = integer(member(json, "block_size"), "block_size");
    lane.blocks = integer(member(json, "blocks"), "blocks");
    return lane;
}

Json spell(const Lane& lane) {
    return {{"name", lane.name},
            {"backend", lane.backend},
            {"cache", lane.cache},
            {"kv_cache_dtype", name(lane.kv_cache_dtype)},
            {"block_size", lane.block_size},
            {"blocks", lane.blocks}};
}

void require_columns(const Json& record, const char* key, const Json& expected) {
    if (member(record, key) != expected) {
        fail("\"", key, "\" are not those of version ", tape_version);
    }
}

}  // namespace

Json to_json(const TapeHeader& header) {
    const ModelShape& shape = header.shape;
    Json json = {{"tape", "kvtape"},
                 {"version", tape_version},
                 {"model", printable(header.model)},
                 {"shape",
                  {{"layers", shape.layers},
                   {"hidden", shape.hidden},
                   {"heads", shape.heads},
                   {"kv_heads", shape.kv_heads},
                   {"head_dim", shape.head_dim},
                   {"ffn", shape.ffn},
                   {"vocab", shape.vocab}}},
                 {"max_model_len", header.max_model_len}};
    spell_list(json, "lanes", header.lanes);
    json["write_columns"] = write_columns;
    json["read_columns"] = read_columns;
    json["flop_columns"] = flop_columns();
    return json;
}

TapeHeader header_from_json(const Json& record) {
    TapeHeader header;
    header.model = text(member(record, "model"), "model");
    const Json& shape = member(record, "shape");
    header.shape = {integer(member(shape, "layers"), "layers"),
                    integer(member(shape, "hidden"), "hidden"),
                    integer(member(shape, "heads"), "heads"),
                    integer(member(shape, "kv_heads"), "kv_heads"),
                    integer(member(shape, "head_dim"), "head_dim"),
                    integer(member(shape, "ffn"), "ffn"),
                    integer(member(shape, "vocab"), "vocab")};
    header.max_model_len = integer(member(record, "max_model_len"), "max_model_len");
    header.lanes = list_from(record, "lanes", lane_from);
    require_columns(record, "write_columns", write_columns);
    require_columns(record, "read_columns", read_columns);
    require_columns(record, "flop_columns", flop_columns());
    validate(header);
    return header;
}

Json to_json(const Step& step, const ModelShape& shape) {
    Json json = {{"step", step.index}, {"lane", step.lane}, {"phase", name(step.phase)}};
    spell_list(json, "spans", step.spans);
    json["writes"] = spell(step.writes);
    json["reads"] = spell(step.reads, shape.group_size());
    json["flops"] = step.flops.of;
    json["kv_bytes"] = {{"written", step.kv_bytes_written},
                        {"read", step.kv_bytes_read},
                        {"held", step.kv_bytes_held}};
    spell_list(json, "pool", step.pool);
    spell_list(json, "losses", step.losses);
    spell_list(json, "attention", step.attention);
    if (step.queue != QueueState{}) {
        json["queue"] = {{"running", step.queue.running},
                         {"waiting", step.queue.waiting},
                         {"swapped", step.queue.swapped}};
    }
    json["wall_ns"] = step.wall_ns;
    return json;
}

Step step_from_json(const Json& record, const TapeHeader& header) {
    Step step;
    step.index = integer(member(record, "step"), "step");
    step.lane = integer32(member(record, "lane"), "lane");
    const std::string phase = text(member(record, "phase"), "phase");
    if (phase != "prefill" && phase != "decode") fail("\"phase\" is neither prefill nor decode");
    step.phase = phase == "prefill" ? Phase::prefill : Phase::decode;
    step.spans = list_from(record, "spans", span_from);
    step.writes = writes_from(member(record, "writes"), header.shape);
    step.reads = reads_from(member(record, "reads"), header.shape);

    const Json::array_t& flops = list(member(record, "flops"), "flops", component_count);
    for (std::size_t i = 0; i < flops.size(); ++i) step.flops.of[i] = integer(flops[i], "flops");
    const Json& bytes = member(record, "kv_bytes");
    step.kv_bytes_written = integer(member(bytes, "written"), "written");
    step.kv_bytes_read = integer(member(bytes, "read"), "read");
    step.kv_bytes_held = integer(member(bytes, "held"), "held");

    step.pool = list_from(record, "pool", pool_event_from);
    step.losses = list_from(record, "losses", loss_from);
    step.attention = list_from(record, "attention", attention_from);
    if (const Json* queue = optional(record, "queue")) {
        step.queue = {integer(member(*queue, "running"), "running"),
                      integer(member(*queue, "waiting"), "waiting"),
                      integer(member(*queue, "swapped"), "swapped")};
    }
    step.wall_ns = integer(member(record, "wall_ns"), "wall_ns");
    validate(step, header);
    return step;
}

Json end_record(std::int64_t steps, std::string_view reason) {
    Json json = {{"end", reason.empty() ? "complete" : "stopped"}, {"steps", steps}};
    if (!reason.empty()) json["reason"] = printable(reason);
    return json;
}

}  // namespace kvtape
