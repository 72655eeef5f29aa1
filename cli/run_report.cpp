#include "cli/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/units.h"
#include "core/check.h"

namespace kvtape {
namespace {

std::string count_of(std::int64_t count, const std::string& thing) {
    return with_commas(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string cache_in_words(const RunResult& result) {
    std::string text = result.lane.cache + ", " + name(result.lane.kv_cache_dtype);
    if (result.lane.cache == "paged") {
        text += ", pool of " + count_of(result.lane.blocks, "block") + " of " +
                count_of(result.lane.block_size, "token");
    }
    return text + ", " + bytes_in_units(result.kv_bytes_held) + " held at the end";
}

}  // namespace

const char* name(FinishReason reason) {
    switch (reason) {
        case FinishReason::unfinished:
            return "unfinished";
        case FinishReason::stop:
            return "stop";
        case FinishReason::length:
            return "length";
        case FinishReason::failed:
            return "failed";
    }
    return "unknown";
}

LatencySummary summarize(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    const double last = seconds.back();
    std::sort(seconds.begin(), seconds.end());
    const std::size_t middle = seconds.size() / 2;
    const double median =
        seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
    return {median, last, seconds.front(), seconds.back()};
}

Json run_json(const RunResult& result) {
    const Generation& made = result.generation;
    return {{"model", result.model},
            {"cache", result.lane.cache},
            {"kv_cache_dtype", name(result.lane.kv_cache_dtype)},
            {"block_size", result.lane.block_size},
            {"blocks", result.lane.blocks},
            {"threads", result.threads},
            {"prompt_tokens", result.prompt_tokens},
            {"generated_tokens", std::ssize(made.token_ids)},
            {"token_ids", made.token_ids},
            {"text", result.text},
            {"finish_reason", name(made.finish_reason)},
            {"finish_detail", made.finish_detail},
            {"logits_hash", hex16(made.logits_hash)},
            {"smallest_margin", json_number(static_cast<double>(made.smallest_margin))},
            {"ttft_seconds", made.ttft_seconds},
            {"itl_seconds", made.itl_seconds},
            {"kv_bytes_held", result.kv_bytes_held},
            {"losses", json_losses(made.losses)}};
}

std::string run_summary(const RunResult& result) {
    const Generation& made = result.generation;
    std::string text;
    const auto line = [&](const char* label, const std::string& value) {
        std::string padded = label;
        padded.resize(28, ' ');
        text += padded + value + "\n";
    };
    line("tokens", with_commas(result.prompt_tokens) + " in the prompt, " +
                       with_commas(std::ssize(made.token_ids)) + " generated");
    line("finished", std::string(name(made.finish_reason)) + " (" + made.finish_detail + ")");
    line("time to first token (TTFT)", duration(made.ttft_seconds) + ": prefill of " +
                                           count_of(result.prompt_tokens, "token") + " in " +
                                           with_commas(result.prefill_passes) +
                                           (result.prefill_passes == 1 ? " pass" : " passes"));
    if (made.itl_seconds.empty()) {
        line("inter-token latency (ITL)", "none: only one token was generated");
    } else {
        const LatencySummary itl = summarize(made.itl_seconds);
        line("inter-token latency (ITL)", "median " + duration(itl.median) + ", last " +
                                              duration(itl.last) + ", from " + duration(itl.least) +
                                              " to " + duration(itl.most));
    }
    line("cache", cache_in_words(result));
    line("logits hash", hex16(made.logits_hash));
    return text;
}

}  // namespace kvtape
