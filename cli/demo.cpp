// `kvtape demo`: the main job. The shipped model decodes its prepared prompt three ways at once;
// the text streams side by side; then come the costs, the proof that every bit is equal, and the
// tape.
#include <algorithm>
#include <array>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/comparison_report.h"
#include "cli/comparison_run.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/request_options.h"
#include "cli/run_report.h"
#include "cli/text_columns.h"
#include "cli/text_stream.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "reference_cpu/input_file.h"
#include "tracer/tape_limits.h"
#include "tracer/tape_reader.h"

namespace kvtape {
namespace {

struct DemoOptions {
    ModelOptions model;
    std::string tape = "demo.tape";
    std::int64_t max_tokens = 60;
    bool json = false;
};

constexpr std::int64_t largest_prompt_bytes = 1 << 20;

// For models that come without a prepared prompt.
constexpr const char* plain_prompt = "Once upon a time";

std::string demo_prompt(const ModelOptions& options) {
    const std::string path = options.directory + "/demo_prompt.txt";
    if (!std::filesystem::exists(path)) return plain_prompt;
    std::string text = read_text_file(path, largest_prompt_bytes);
    // Editors end a file with a newline, which is no part of the story.
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

// The demo writes its tape anew each time, but never over a file that is something else.
void check_tape_is_ours(const std::string& path, const LoadedModel& loaded,
                        const std::vector<std::int32_t>& prompt) {
    if (!std::filesystem::exists(path)) return;
    try {
        TapeReader reader(path);
        std::vector<std::int32_t> ids;
        Step step;
        if (reader.next(step) == TapeReader::Next::step && !step.spans.empty()) {
            for (const TokenText& token : step.spans.front().tokens) ids.push_back(token.id);
        }
        const TapeHeader& header = reader.header();
        if (header.model == loaded.name && header.lanes.size() == compared_caches.size() &&
            (ids == prompt || ids.empty())) {
            return;
        }
    } catch (const Error&) {
        // Not a tape at all.
    }
    fail(path, " exists and is not a tape of this demo; move it away, or name another with --tape");
}

std::string introduction(const LoadedModel& loaded, const std::string& prompt,
                         std::int64_t prompt_tokens, std::size_t width) {
    const ModelConfig& config = loaded.model.config;
    const ModelShape& s = config.shape;
    return "The model \"" + loaded.name +
           "\": " + decimal(static_cast<double>(loaded.model.parameters()) / 1e6, 2) +
           " million weights, " + std::to_string(s.layers) + " layers, " + std::to_string(s.heads) +
           " query heads that share " + std::to_string(s.kv_heads) + " KV heads.\n\nThe prompt, " +
           with_commas(prompt_tokens) + " tokens:\n\n" + wrapped(prompt, width - 4, "  | ") +
           "\nThree decoders go on from there, a token of each in turn:\n\n";
}

// The three texts, side by side, while they grow.
class SideBySide {
  public:
    SideBySide(const LoadedModel& loaded, const Request& request, std::size_t width)
        : loaded_(loaded),
          request_(request),
          columns_(compared_caches.size(), width, stdout_is_terminal(), print) {
        const std::string headings[] = {"no cache", "contiguous cache", "paged cache"};
        for (std::size_t i = 0; i < streams_.size(); ++i) columns_.add(i, headings[i] + "\n");
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            columns_.add(i, std::string(width, '-') + "\n");
        }
        columns_.show();
    }

    void add(const Step& step) {
        if (step.spans.front().sampled.empty()) return;
        const TokenText& token = step.spans.front().sampled.front().token;
        const auto lane = static_cast<std::size_t>(step.lane);
        const auto& stops = request_.stop_ids;
        if (std::find(stops.begin(), stops.end(), token.id) == stops.end()) {
            columns_.add(lane, streams_[lane].add(loaded_.bytes_of(token.id)));
        }
        columns_.show();
    }

    void finish() {
        for (std::size_t i = 0; i < streams_.size(); ++i) columns_.add(i, streams_[i].finish());
        columns_.finish();
    }

  private:
    const LoadedModel& loaded_;
    const Request& request_;
    std::array<TextStream, 3> streams_;
    TextColumns columns_;
};

std::string lesson_of_the_latencies(const ComparisonRun& run) {
    const auto& decoders = run.comparison.decoders;
    const Generation& uncached = decoders.front().generation;
    const Generation& cached = decoders[1].generation;
    if (cached.itl_seconds.empty()) return "";
    const LatencySummary without = summarize(uncached.itl_seconds);
    const LatencySummary with = summarize(cached.itl_seconds);
    return "With a cache the first token took " + duration(cached.ttft_seconds) +
           ", for it the whole prompt went through the model;\neach later token took " +
           duration(with.median) + ", for one token did. Without a cache each later one took\n" +
           duration(without.median) +
           ", as the whole prefix goes through again (medians, while "
           "recording).\n";
}

std::string next_steps(const std::string& tape) {
    std::string text = "Next:\n";
    const auto line = [&](std::string command, const char* purpose) {
        command.resize(std::max<std::size_t>(command.size() + 2, 38), ' ');
        text += "  " + command + purpose + "\n";
    };
    line("./kvtape inspect " + tape + " --at 1", "what was in the caches, and what was read");
    line("./kvtape inspect " + tape + " --verify", "recount everything");
    line("./kvtape lesson 1", "begin at the beginning");
    return text;
}

int demo(const DemoOptions& options) {
    check(options.model);
    check_at_least("--max-tokens", options.max_tokens, 1);
    Progress progress("loading the model");
    const LoadedModel loaded = load(options.model);
    if (!loaded.tokenizer) {
        fail(options.model.directory,
             "/tokenizer.json is missing; the demo needs a model with text");
    }
    const std::string prompt = demo_prompt(options.model);
    RequestOptions request_options;
    request_options.max_tokens = options.max_tokens;
    const ModelConfig& config = loaded.model.config;
    const Request request = make_request(request_options, loaded.tokenizer->encode(prompt), config);
    check_tape_is_ours(options.tape, loaded, request.prompt);
    progress.stop();

    std::unique_ptr<SideBySide> columns;
    const auto introduce = [&] {
        if (options.json) return;
        const auto width = static_cast<std::size_t>(std::min(terminal_columns(), 100));
        print(introduction(loaded, prompt, std::ssize(request.prompt), width));
        columns = std::make_unique<SideBySide>(loaded, request, width / 3 - 2);
    };
    const TapeOptions tape{
        .path = options.tape,
        .overwrite = true,
        .values = row_values_fit(config.shape, KvDtype::f32, std::ssize(request.prompt))};
    const auto show = [&](const Step& step) {
        if (columns) columns->add(step);
    };
    CacheOptions cache;
    cache.used_pool_seed = 1;  // so that neighbours in the text lie apart in the pool
    const ComparisonRun run =
        run_comparison(loaded, request, {config.max_model_len}, cache, options.model.threads, tape,
                       {.begins = introduce, .step = show});
    if (options.json) {
        print_json(comparison_json(run, loaded, request));
        return conclude(run);
    }
    columns->finish();
    print("\nWhat it cost (1 multiply-add = 2 FLOP):\n\n" + comparison_table(run) + "\n" +
          verdict_line(run) + "\n\n" + lesson_of_the_latencies(run) + "\n" +
          "Every access and every FLOP is on the tape " + options.tape + " (" +
          with_commas(run.tape_steps) + " steps, " + with_commas(run.tape_bytes) + " bytes).\n\n" +
          next_steps(options.tape));
    return conclude(run);
}

}  // namespace

Action add_demo(CLI::App& verb) {
    const auto options = std::make_shared<DemoOptions>();
    add_model_options(verb, options->model);
    add_number(verb, "--max-tokens", options->max_tokens, "new tokens at most")->type_name("N");
    verb.add_option("--tape", options->tape, "where the tape goes; an older demo's is replaced")
        ->type_name("FILE")
        ->capture_default_str();
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "Examples:\n"
        "  kvtape demo\n"
        "  kvtape demo --max-tokens 120 --threads 1 --tape long.tape");
    return [options] { return demo(*options); };
}

}  // namespace kvtape
