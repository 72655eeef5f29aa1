#include "tracer/tape_format.h"

#include "core/check.h"
#include "tracer/step_check.h"
#include "tracer/tape_fields.h"
#include "tracer/tape_runs.h"
#include "tracer/tape_values.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

using namespace fields;
using kvtape::spell;  // of floats and tokens, beside the ones below

Json flop_columns() {
    Json names = Json::array();
    for (int i = 0; i < component_count; ++i) names.push_back(name(static_cast<Component>(i)));
    return names;
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
        span.sampled.push_back({token_from(*sampled),
                                float_from(member(*sampled, "logit"), "logit"),
                                float_from(member(*sampled, "margin"), "margin")});
    }
    return span;
}

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

Json spell(const StoredRows& rows) {
    return {{"sequence", rows.sequence},       {"layer", rows.layer},
            {"kv_head", rows.kv_head},         {"kind", rows.kind == Kind::key ? "k" : "v"},
            {"position", rows.position_begin}, {"codes", hex(rows.codes)}};
}

StoredRows rows_from(const Json& json) {
    StoredRows rows;
    rows.sequence = integer32(member(json, "sequence"), "sequence");
    rows.layer = integer32(member(json, "layer"), "layer");
    rows.kv_head = integer32(member(json, "kv_head"), "kv_head");
    const std::string kind = text(member(json, "kind"), "kind");
    if (kind != "k" && kind != "v") fail("\"kind\" of stored rows is neither k nor v");
    rows.kind = kind == "k" ? Kind::key : Kind::value;
    rows.position_begin = integer(member(json, "position"), "position");
    rows.codes = bytes_from_hex(text(member(json, "codes"), "codes"), "codes");
    return rows;
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

Json spell(const Lane& lane) {
    Json json = {{"name", lane.name},
                 {"backend", lane.backend},
                 {"cache", lane.cache},
                 {"kv_cache_dtype", name(lane.kv_cache_dtype)},
                 {"block_size", lane.block_size},
                 {"blocks", lane.blocks}};
    if (lane.kv_scale != 1) json["kv_scale"] = spell(lane.kv_scale);
    return json;
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

Lane lane_from(const Json& json) {
    Lane lane;
    lane.name = text(member(json, "name"), "name");
    lane.backend = text(member(json, "backend"), "backend");
    lane.cache = text(member(json, "cache"), "cache");
    lane.kv_cache_dtype = parse_kv_dtype(text(member(json, "kv_cache_dtype"), "kv_cache_dtype"));
    lane.block_size = integer(member(json, "block_size"), "block_size");
    lane.blocks = integer(member(json, "blocks"), "blocks");
    if (const Json* scale = optional(json, "kv_scale")) {
        lane.kv_scale = float_from(*scale, "kv_scale");
    }
    return lane;
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
    spell_list(json, "rows", step.rows);
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
    step.rows = list_from(record, "rows", rows_from);
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
