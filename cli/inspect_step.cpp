#include "cli/inspect_step.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/cache_picture.h"
#include "cli/output.h"
#include "cli/units.h"
#include "core/check.h"
#include "tracer/cost_model.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

// A tape from outside may claim any position; more cells than this are not drawn.
constexpr std::int64_t most_cells = 1 << 20;
// Longer pieces of text are shown by their ends.
constexpr std::size_t longest_text = 48;

std::int64_t end_of(const SpanRecord& span) {
    return span.first_position + std::ssize(span.tokens);
}

std::string quoted(std::string text) {
    text = escaped(text);
    if (text.size() > longest_text) {
        text = printable(text.substr(0, longest_text / 2)) + " ... " +
               printable(text.substr(text.size() - longest_text / 2));
    }
    return "\"" + text + "\"";
}

std::string range_in_words(const char* thing, std::int64_t begin, std::int64_t end) {
    if (end - begin == 1) return std::string(thing) + " " + with_commas(begin);
    return std::string(thing) + "s " + with_commas(begin) + " to " + with_commas(end - 1);
}

std::string decimal_float(float value) {
    return decimal(static_cast<double>(value), 3);
}

struct RowCounts {
    std::int64_t written = 0, read = 0, fetched = 0;
};

RowCounts count_rows(const Step& step) {
    RowCounts rows;
    for (const WriteRun& run : step.writes) rows.written += run.rows();
    for (const ReadRun& run : step.reads) {
        rows.read += run.rows_read();
        rows.fetched += run.rows_fetched();
    }
    return rows;
}

}  // namespace

void StepView::add(const Step& step) {
    playback_.add(step);
    if (step.lane != lane_ || step.index > at_) return;
    for (const SpanRecord& span : step.spans) {
        std::int64_t position = span.first_position;
        for (const TokenText& token : span.tokens) tokens_[span.sequence][position++] = token;
    }
    if (step.index == at_) step_ = step;
}

std::vector<Cell> StepView::cells_of(const SpanRecord& span, const RowChoice& choice) const {
    std::int64_t end = end_of(span);
    if (lane().block_size > 0) {
        end = checked_product(ceil_div(end, lane().block_size), lane().block_size, "positions");
    }
    if (end > most_cells) {
        fail("sequence ", span.sequence, " has ", end, " positions in this step; at most ",
             most_cells, " are shown");
    }
    std::vector<Cell> cells(static_cast<std::size_t>(end));
    playback_.cells(at_, span.sequence, choice.layer, choice.kv_head, choice.kind, 0, cells);
    return cells;
}

std::vector<std::int64_t> StepView::blocks_of(const SpanRecord& span) const {
    std::vector<std::int64_t> blocks;
    if (lane().block_size == 0) return blocks;
    for (const auto& [index, block] : playback_.block_table(at_, span.sequence)) {
        blocks.push_back(block);
    }
    return blocks;
}

std::int64_t StepView::whole_block_bytes(const SpanRecord& span) const {
    if (lane().block_size == 0) return 0;
    const std::int64_t blocks = ceil_div(end_of(span), lane().block_size);
    return checked_product(
        blocks, kv_bytes_per_block(header_.shape, lane().kv_cache_dtype, lane().block_size),
        "bytes of blocks");
}

std::string StepView::text(const RowChoice& choice) const {
    const Step& step = *step_;
    const RowCounts rows = count_rows(step);
    std::string text = "lane " + escaped(lane().name) + ", step " + with_commas(step.index) +
                       " of " + with_commas(steps()) + ": " + name(step.phase) + "\n";
    for (const SpanRecord& span : step.spans) {
        std::string bytes;
        for (const TokenText& token : span.tokens) bytes += token.bytes;
        text += "  sequence " + std::to_string(span.sequence) + " computes " +
                range_in_words("position", span.first_position, end_of(span)) + ": " +
                quoted(bytes) + "\n";
        for (const Sampled& sampled : span.sampled) {
            text += "    picks " + quoted(sampled.token.bytes) + " (id " +
                    std::to_string(sampled.token.id) + ", logit " + decimal_float(sampled.logit) +
                    ", " + decimal_float(sampled.margin) + " above the next)\n";
        }
        text += "    its cache, layer " + std::to_string(choice.layer) + ", KV head " +
                std::to_string(choice.kv_head) + ", " + (choice.kind == Kind::key ? "K" : "V") +
                ":\n";
        text += cache_picture(cells_of(span, choice), lane().block_size, 6);
        if (lane().block_size > 0) {
            text += "    block table:";
            for (const std::int64_t block : blocks_of(span)) text += " " + std::to_string(block);
            text += "\n";
        }
    }
    text += "  " + std::string(picture_legend) + "\n";
    text += "  in the cache  " + with_commas(playback_.rows_in_cache(at_)) + " K and V rows; " +
            bytes_in_units(step.kv_bytes_held) + " held after the step\n";
    text += "  written       " + with_commas(rows.written) + " rows, " +
            bytes_in_units(step.kv_bytes_written) + "\n";
    text += "  read          " + with_commas(rows.read) + " rows by query heads; " +
            with_commas(rows.fetched) + " fetched, once per group:\n                " +
            bytes_in_units(step.kv_bytes_read) + "\n";
    if (lane().block_size > 0 && step.phase == Phase::decode) {
        std::int64_t bytes = 0;
        for (const SpanRecord& span : step.spans) bytes += whole_block_bytes(span);
        text += "                in whole blocks that would be " + bytes_in_units(bytes) + "\n";
    }
    text += "  computed      " + with_commas(step.flops.total()) + " FLOP in " +
            duration(static_cast<double>(step.wall_ns) * 1e-9) + "\n";
    for (const PoolEvent& event : step.pool) {
        text += "  pool          " + std::string(name(event.kind)) + ", sequence " +
                std::to_string(event.sequence) + ", block " + std::to_string(event.block) + "\n";
    }
    for (const StoreLoss& loss : step.losses) {
        text += "  rounding      layer " + std::to_string(loss.layer) + ": " +
                with_commas(loss.saturated) + " values saturated, " + with_commas(loss.non_finite) +
                " not finite, largest relative error " +
                decimal(static_cast<double>(loss.worst_relative_error), 4) + "\n";
    }
    return text;
}

Json StepView::json(const RowChoice& choice) const {
    const Step& step = *step_;
    const RowCounts rows = count_rows(step);
    Json json = {{"lane", printable(lane().name)},
                 {"step", step.index},
                 {"steps", steps()},
                 {"phase", name(step.phase)},
                 {"kv_rows_in_cache", playback_.rows_in_cache(at_)},
                 {"kv_rows_written", rows.written},
                 {"kv_rows_read", rows.read},
                 {"kv_rows_fetched", rows.fetched},
                 {"kv_bytes_written", step.kv_bytes_written},
                 {"kv_bytes_read", step.kv_bytes_read},
                 {"kv_bytes_held", step.kv_bytes_held},
                 {"flops", json_flops(step.flops)},
                 {"seconds", static_cast<double>(step.wall_ns) * 1e-9},
                 {"cells_are_of",
                  {{"layer", choice.layer},
                   {"kv_head", choice.kv_head},
                   {"kind", choice.kind == Kind::key ? "k" : "v"}}},
                 {"sequences", Json::array()}};
    for (const SpanRecord& span : step.spans) {
        Json sequence = {{"sequence", span.sequence},
                         {"first_position", span.first_position},
                         {"tokens", std::ssize(span.tokens)},
                         {"kv_bytes_read_as_whole_blocks", whole_block_bytes(span)},
                         {"block_table", blocks_of(span)},
                         {"sampled", Json::array()},
                         {"cells", Json::array()}};
        for (const Sampled& sampled : span.sampled) {
            sequence["sampled"].push_back(
                {{"id", sampled.token.id},
                 {"text", printable(sampled.token.bytes)},
                 {"logit", json_number(static_cast<double>(sampled.logit))},
                 {"margin", json_number(static_cast<double>(sampled.margin))}});
        }
        const auto tokens = tokens_.find(span.sequence);
        for (const Cell& cell : cells_of(span, choice)) {
            if (!cell.filled) continue;
            const auto token = tokens->second.find(cell.position);
            const bool known = token != tokens->second.end();
            sequence["cells"].push_back({{"position", cell.position},
                                         {"id", known ? Json(token->second.id) : Json()},
                                         {"text", known ? printable(token->second.bytes) : ""},
                                         {"slot", cell.slot},
                                         {"written_step", cell.written_step},
                                         {"written_phase", name(cell.written_phase)},
                                         {"written_now", cell.written_now},
                                         {"times_read", cell.times_read},
                                         {"times_fetched", cell.times_fetched},
                                         {"read_now", cell.read_now}});
        }
        json["sequences"].push_back(std::move(sequence));
    }
    return json;
}

}  // namespace kvtape
