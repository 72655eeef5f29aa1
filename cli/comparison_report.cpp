#include "cli/comparison_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/table.h"
#include "cli/units.h"

namespace kvtape {
namespace {

// What is not a matrix product or attention: too little to deserve a line each.
std::int64_t other_flops(const FlopCounts& flops) {
    return flops.total() - flops[Component::projections] - flops[Component::mlp] -
           flops[Component::attention] - flops[Component::head];
}

std::string scientific(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", static_cast<double>(value));
    return text;
}

// One row of the table: a label and a number for each decoder.
template <class NumberOf>
void add_counts(Table& table, const std::string& label, const Comparison& comparison,
                const NumberOf& number_of) {
    std::vector<std::string> cells{label};
    for (const DecoderTotals& decoder : comparison.decoders) {
        cells.push_back(with_commas(number_of(decoder)));
    }
    table.add_row(std::move(cells));
}

template <class TextOf>
void add_texts(Table& table, const std::string& label, const Comparison& comparison,
               const TextOf& text_of) {
    std::vector<std::string> cells{label};
    for (const DecoderTotals& decoder : comparison.decoders) cells.push_back(text_of(decoder));
    table.add_row(std::move(cells));
}

std::string place_of(const Difference& difference) {
    std::string place = "step " + std::to_string(difference.step);
    if (difference.layer >= 0) place += ", layer " + std::to_string(difference.layer);
    return place + ", position " + std::to_string(difference.position) + " (" + difference.what +
           (difference.layer >= 0 ? ")" : "; the K and V rows before them are equal)");
}

}  // namespace

std::string comparison_table(const ComparisonRun& run) {
    const Comparison& comparison = run.comparison;
    const DecoderTotals& first = comparison.decoders.front();
    Table table;
    add_texts(table, "cache", comparison, [](const auto& d) { return d.lane.cache; });
    add_texts(table, "text", comparison, [&](const auto& d) -> std::string {
        if (&d == &first) return with_commas(std::ssize(d.generation.token_ids)) + " tokens";
        return d.generation.token_ids == first.generation.token_ids ? "the same" : "DIFFERS";
    });
    add_counts(table, "passes", comparison, [](const auto& d) { return d.passes; });
    table.add_line();
    add_counts(table, "FLOP: projections", comparison,
               [](const auto& d) { return d.flops[Component::projections]; });
    for (const Component component : {Component::mlp, Component::attention, Component::head}) {
        add_counts(table, std::string("      ") + name(component), comparison,
                   [&](const auto& d) { return d.flops[component]; });
    }
    add_counts(table, "      others", comparison,
               [](const auto& d) { return other_flops(d.flops); });
    add_counts(table, "      total", comparison, [](const auto& d) { return d.flops.total(); });
    add_texts(table, "  beside no cache", comparison, [&](const auto& d) -> std::string {
        const double ratio =
            static_cast<double>(first.flops.total()) / static_cast<double>(d.flops.total());
        return &d == &first ? "1" : "1/" + decimal(ratio, 1);
    });
    table.add_line();
    add_counts(table, "K and V rows written", comparison,
               [](const auto& d) { return d.kv_rows_written; });
    add_counts(table, "  read, per query head", comparison,
               [](const auto& d) { return d.kv_rows_read; });
    add_counts(table, "  fetched, per group", comparison,
               [](const auto& d) { return d.kv_rows_fetched; });
    add_counts(table, "bytes held at the end", comparison,
               [](const auto& d) { return d.kv_bytes_held; });
    table.add_line();
    add_texts(table, "time, recording", comparison,
              [](const auto& d) { return duration(d.seconds); });
    add_texts(table, "  first token (TTFT)", comparison,
              [](const auto& d) { return duration(d.generation.ttft_seconds); });
    add_texts(table, "  each later (ITL), median", comparison, [](const auto& d) -> std::string {
        if (d.generation.itl_seconds.empty()) return "-";
        return duration(summarize(d.generation.itl_seconds).median);
    });
    return table.text();
}

std::string verdict_line(const ComparisonRun& run) {
    const Comparison& comparison = run.comparison;
    if (comparison.verdict == Verdict::equal_bits) {
        return "equal bits: " + with_commas(run.logit_rows) + " rows of logits and " +
               with_commas(run.kv_rows) + " K and V rows compared, every bit equal";
    }
    std::string line = std::string("bits differ (") + name(comparison.verdict) + ")";
    if (comparison.first_difference) {
        line += ": decoder " + comparison.first_difference->decoder + " differs from " +
                comparison.decoders.front().lane.name + " first at " +
                place_of(*comparison.first_difference);
    }
    return line;
}

int conclude(const ComparisonRun& run) {
    if (run.comparison.verdict == Verdict::equal_bits) return exit_code::ok;
    say(verdict_line(run));
    return exit_code::broken_promise;
}

std::string margin_line(const ComparisonRun& run) {
    return "largest difference of a logit " + scientific(run.comparison.largest_logit_difference) +
           "; smallest distance between the two largest logits " +
           scientific(run.comparison.smallest_margin);
}

Json comparison_json(const ComparisonRun& run, const LoadedModel& loaded, const Request& request) {
    const Comparison& comparison = run.comparison;
    const auto generated = std::ssize(comparison.decoders.front().generation.token_ids);
    Json decoders = Json::array();
    for (const DecoderTotals& d : comparison.decoders) {
        decoders.push_back({{"cache", d.lane.cache},
                            {"block_size", d.lane.block_size},
                            {"blocks", d.lane.blocks},
                            {"text", loaded.text_of(d.generation.token_ids, request.stop_ids)},
                            {"token_ids", d.generation.token_ids},
                            {"finish_reason", name(d.generation.finish_reason)},
                            {"logits_hash", hex16(d.generation.logits_hash)},
                            {"passes", d.passes},
                            {"flops", json_flops(d.flops)},
                            {"kv_rows_written", d.kv_rows_written},
                            {"kv_rows_read", d.kv_rows_read},
                            {"kv_rows_fetched", d.kv_rows_fetched},
                            {"kv_bytes_held", d.kv_bytes_held},
                            {"seconds", d.seconds},
                            {"ttft_seconds", d.generation.ttft_seconds},
                            {"itl_seconds", d.generation.itl_seconds},
                            {"losses", json_losses(d.generation.losses)}});
    }
    Json json = {{"model", loaded.name},
                 {"kv_cache_dtype", name(comparison.decoders.front().lane.kv_cache_dtype)},
                 {"prompt_tokens", run.prompt_tokens},
                 {"generated_tokens", generated},
                 {"equal_bits", comparison.verdict == Verdict::equal_bits},
                 {"verdict", name(comparison.verdict)},
                 {"logit_rows_compared", run.logit_rows},
                 {"kv_rows_compared", run.kv_rows},
                 {"largest_logit_difference",
                  json_number(static_cast<double>(comparison.largest_logit_difference))},
                 {"smallest_margin", json_number(static_cast<double>(comparison.smallest_margin))},
                 {"decoders", std::move(decoders)}};
    if (const auto& difference = comparison.first_difference) {
        json["first_difference"] = {{"decoder", difference->decoder},
                                    {"step", difference->step},
                                    {"layer", difference->layer},
                                    {"position", difference->position},
                                    {"what", difference->what}};
    }
    return json;
}

StoreCounts comparison_losses(const ComparisonRun& run) {
    StoreCounts worst;
    for (const DecoderTotals& decoder : run.comparison.decoders) {
        const StoreCounts& losses = decoder.generation.losses;
        worst.saturated = std::max(worst.saturated, losses.saturated);
        worst.non_finite = std::max(worst.non_finite, losses.non_finite);
        worst.worst_relative_error =
            std::max(worst.worst_relative_error, losses.worst_relative_error);
    }
    return worst;
}

}  // namespace kvtape
