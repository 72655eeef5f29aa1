#include "cli/tape_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/table.h"
#include "cli/units.h"
#include "tracer/utf8.h"

namespace kvtape {

void LaneSummary::add(const Step& step) {
    (step.phase == Phase::prefill ? prefill_steps : decode_steps) += 1;
    for (const SpanRecord& span : step.spans) {
        tokens_computed += std::ssize(span.tokens);
        tokens_sampled += std::ssize(span.sampled);
        for (const Sampled& sampled : span.sampled) bytes_sampled += sampled.token.bytes;
    }
    for (const WriteRun& run : step.writes) rows_written += run.rows();
    for (const ReadRun& run : step.reads) {
        rows_read += run.rows_read();
        rows_fetched += run.rows_fetched();
    }
    kv_bytes_written += step.kv_bytes_written;
    kv_bytes_read += step.kv_bytes_read;
    kv_bytes_held = step.kv_bytes_held;
    flops += step.flops;
    for (const StoreLoss& loss : step.losses) {
        losses.saturated += loss.saturated;
        losses.non_finite += loss.non_finite;
        losses.worst_relative_error =
            std::max(losses.worst_relative_error, loss.worst_relative_error);
    }
    wall_ns += step.wall_ns;
}

std::int64_t TapeSummary::steps() const {
    std::int64_t steps = 0;
    for (const LaneSummary& lane : lanes) steps += lane.steps();
    return steps;
}

std::string TapeSummary::text() const {
    const ModelShape& s = header.shape;
    std::string text = "model " + escaped(header.model) + ": " + std::to_string(s.layers) +
                       " layers, " + std::to_string(s.heads) + " query heads, " +
                       std::to_string(s.kv_heads) + " KV heads of " + std::to_string(s.head_dim) +
                       " numbers; at most " + with_commas(header.max_model_len) + " tokens\n";
    if (steps() == 0) {
        text += "no steps";
        if (!end_reason.empty()) text += ": " + escaped(end_reason);
        return text + "\n";
    }
    text += with_commas(steps()) + (steps() == 1 ? " step in " : " steps in ") +
            with_commas(std::ssize(lanes)) + (lanes.size() == 1 ? " lane, " : " lanes, ") +
            bytes_in_units(bytes) + "\n";
    if (!end_reason.empty()) text += "the run stopped early: " + escaped(end_reason) + "\n";

    Table table;
    const auto row = [&](const std::string& label, const auto& value_of) {
        std::vector<std::string> cells{label};
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            cells.push_back(value_of(lanes[i], header.lanes[i]));
        }
        table.add_row(std::move(cells));
    };
    const auto count = [&](const std::string& label, auto member) {
        row(label,
            [member](const LaneSummary& lane, const Lane&) { return with_commas(lane.*member); });
    };
    row("lane", [](const LaneSummary&, const Lane& lane) { return escaped(lane.name); });
    row("cache", [](const LaneSummary&, const Lane& lane) { return escaped(lane.cache); });
    row("dtype", [](const LaneSummary&, const Lane& lane) { return name(lane.kv_cache_dtype); });
    row("block size", [](const LaneSummary&, const Lane& lane) {
        return lane.block_size > 0 ? with_commas(lane.block_size) : std::string("-");
    });
    count("prefill steps", &LaneSummary::prefill_steps);
    count("decode steps", &LaneSummary::decode_steps);
    count("tokens computed", &LaneSummary::tokens_computed);
    count("tokens sampled", &LaneSummary::tokens_sampled);
    count("K and V rows written", &LaneSummary::rows_written);
    count("  read, per query head", &LaneSummary::rows_read);
    count("  fetched, per group", &LaneSummary::rows_fetched);
    count("bytes written", &LaneSummary::kv_bytes_written);
    count("  read", &LaneSummary::kv_bytes_read);
    count("  held at the end", &LaneSummary::kv_bytes_held);
    row("FLOP",
        [](const LaneSummary& lane, const Lane&) { return with_commas(lane.flops.total()); });
    row("values saturated",
        [](const LaneSummary& lane, const Lane&) { return with_commas(lane.losses.saturated); });
    row("  not finite",
        [](const LaneSummary& lane, const Lane&) { return with_commas(lane.losses.non_finite); });
    row("time", [](const LaneSummary& lane, const Lane&) {
        return duration(static_cast<double>(lane.wall_ns) * 1e-9);
    });
    return text + table.text();
}

Json TapeSummary::json() const {
    Json json = {{"model", printable(header.model)},
                 {"shape", json_shape(header.shape)},
                 {"max_model_len", header.max_model_len},
                 {"steps", steps()},
                 {"bytes", bytes},
                 {"complete", fault.empty()},
                 {"fault", printable(fault)},
                 {"end_reason", printable(end_reason)},
                 {"lanes", Json::array()}};
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const LaneSummary& lane = lanes[i];
        json["lanes"].push_back({{"name", printable(header.lanes[i].name)},
                                 {"backend", printable(header.lanes[i].backend)},
                                 {"cache", printable(header.lanes[i].cache)},
                                 {"kv_cache_dtype", name(header.lanes[i].kv_cache_dtype)},
                                 {"block_size", header.lanes[i].block_size},
                                 {"blocks", header.lanes[i].blocks},
                                 {"steps", lane.steps()},
                                 {"prefill_steps", lane.prefill_steps},
                                 {"decode_steps", lane.decode_steps},
                                 {"tokens_computed", lane.tokens_computed},
                                 {"tokens_sampled", lane.tokens_sampled},
                                 {"text", printable(lane.bytes_sampled)},
                                 {"kv_rows_written", lane.rows_written},
                                 {"kv_rows_read", lane.rows_read},
                                 {"kv_rows_fetched", lane.rows_fetched},
                                 {"kv_bytes_written", lane.kv_bytes_written},
                                 {"kv_bytes_read", lane.kv_bytes_read},
                                 {"kv_bytes_held", lane.kv_bytes_held},
                                 {"flops", json_flops(lane.flops)},
                                 {"losses", json_losses(lane.losses)},
                                 {"seconds", static_cast<double>(lane.wall_ns) * 1e-9}});
    }
    return json;
}

}  // namespace kvtape
