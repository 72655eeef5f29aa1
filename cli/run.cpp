// `kvtape run`: one decoder with one cache on one prompt. The text appears as it is produced; then
// come time to first token and inter-token latency, apart.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/cache_options.h"
#include "cli/exit_code.h"
#include "cli/json_values.h"
#include "cli/model_options.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/request_options.h"
#include "cli/run_report.h"
#include "cli/tape_file.h"
#include "cli/text_stream.h"
#include "cli/verbs.h"
#include "reference_cpu/decoder.h"

namespace kvtape {
namespace {

struct RunOptions {
    ModelOptions model;
    PromptOptions prompt;
    std::string cache = "contiguous";
    CacheOptions cache_options;
    RequestOptions request;
    TapeOptions tape;
    std::optional<std::string> logits;
    bool json = false;
};

// The text on standard output, token by token.
class TokenPrinter {
  public:
    TokenPrinter(const LoadedModel& loaded, const Request& request, Progress& progress)
        : loaded_(loaded), request_(request), progress_(progress) {}

    void add(std::int32_t id) {
        if (stdout_is_terminal()) progress_.stop();  // both would write on the same line
        const auto& stops = request_.stop_ids;
        if (std::find(stops.begin(), stops.end(), id) != stops.end()) return;
        // Without a tokenizer the ids are all there is to show.
        print(loaded_.tokenizer ? stream_.add(loaded_.bytes_of(id)) : std::to_string(id) + " ");
    }

    void finish() { print(stream_.finish() + "\n"); }

  private:
    const LoadedModel& loaded_;
    const Request& request_;
    Progress& progress_;
    TextStream stream_;
};

// Everything that listens to the passes of one decoder.
struct Listeners {
    TapeFile& tape;
    std::optional<NpyWriter>& logits;
    TokenPrinter* text;  // null with --json
    Progress& progress;
};

template <class Tracer>
void decode(Tracer& tracer, const LoadedModel& loaded, KvCache& cache, Team& team,
            const Request& request, const LengthLimit& limit, Listeners& listeners,
            RunResult& result) {
    Decoder<Tracer> decoder(loaded.model, cache, tracer, team, request, limit, 0,
                            [&](std::int32_t id) { return loaded.bytes_of(id); });
    listeners.progress.update("prefill of " + std::to_string(request.prompt.size()) + " tokens");
    while (!decoder.finished()) {
        const PassReport& pass = decoder.step();
        if (Tracer::enabled) listeners.tape.write(pass.step);
        if (listeners.logits) listeners.logits->add(pass.logits);
        if (pass.step.phase == Phase::prefill) result.prefill_passes += 1;
        result.kv_bytes_held = pass.step.kv_bytes_held;
        if (pass.step.spans.front().sampled.empty()) continue;
        const auto made = decoder.generation().token_ids.size();
        listeners.progress.update("decoding, " + std::to_string(made) + " tokens so far");
        if (listeners.text) listeners.text->add(decoder.generation().token_ids.back());
    }
    result.generation = decoder.generation();
    if (result.generation.finish_reason == FinishReason::failed) {
        fail(result.generation.finish_detail);
    }
}

// Two names of one file become equal, whether it exists or not.
std::filesystem::path whole_path(const std::string& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name));
}

// Throws UsageError for options that contradict each other.
void check_files(const RunOptions& options) {
    if (options.tape.path && options.logits &&
        whole_path(*options.tape.path) == whole_path(*options.logits)) {
        throw UsageError("--tape and --logits name the same file; give each a name of its own");
    }
    if (options.cache_options.blocks && options.cache != "paged") {
        throw UsageError("--blocks is for --cache paged; the cache here is " + options.cache);
    }
}

int run(const RunOptions& options) {
    check(options.model);
    check(options.prompt);
    check(options.cache_options);
    check(options.request);
    check_files(options);
    Progress progress("loading the model");
    const LoadedModel loaded = load(options.model);
    const ModelConfig& config = loaded.model.config;
    Request request = make_request(options.request, prompt_ids(options.prompt, loaded), config);
    request.all_logits = options.logits.has_value();
    const LengthLimit limit =
        cache_length_limit(options.cache_options, config.shape,
                           length_limit(options.request, config), {options.cache});
    const auto cache =
        make_cache(options.cache, options.cache_options, config.shape, limit, request);
    Team team(options.model.threads);

    RunResult result;
    result.model = loaded.name;
    result.lane = cache->lane();
    result.threads = options.model.threads;
    result.prompt_tokens = std::ssize(request.prompt);

    if (replaces_a_file(options.tape)) admit(request, limit);
    std::optional<NpyWriter> logits;
    if (options.logits) {
        logits.emplace(*options.logits, config.shape.vocab, options.tape.overwrite);
    }
    TapeFile tape(options.tape, {loaded.name, config.shape, limit.tokens, {cache->lane()}});
    TokenPrinter printer(loaded, request, progress);
    tape.record([&] {
        admit(request, limit);
        Listeners listeners{tape, logits, options.json ? nullptr : &printer, progress};
        const auto decode_with = [&](auto tracer) {
            decode(tracer, loaded, *cache, team, request, limit, listeners, result);
        };
        try {
            if (options.tape.path) {
                decode_with(Recorder(team.size(), {.codes = options.tape.values}));
            } else {
                decode_with(NullTracer());
            }
        } catch (const Error&) {
            if (!options.json) printer.finish();  // the message starts on a line of its own
            throw;
        }
        if (logits) logits->close();
    });
    progress.stop();

    result.text = loaded.text_of(result.generation.token_ids, request.stop_ids);
    if (!options.json) printer.finish();  // what comes now starts on a line of its own
    const std::string warning = loss_warning(options.cache_options, result.generation.losses);
    if (!warning.empty()) say("warning: " + warning);
    if (options.json) {
        print_json(run_json(result));
        return exit_code::ok;
    }
    print("\n" + run_summary(result));
    if (options.tape.path) {
        print("tape                        " + *options.tape.path + ", " +
              std::to_string(tape.steps_written()) +
              " steps; look into it with 'kvtape inspect'\n");
    }
    if (logits) {
        print("logits                      " + *options.logits + ", float32 [" +
              std::to_string(logits->rows()) + ", " + std::to_string(config.shape.vocab) + "]\n");
    }
    return exit_code::ok;
}

}  // namespace

Action add_run(CLI::App& verb) {
    const auto options = std::make_shared<RunOptions>();
    add_prompt_options(verb, options->prompt);
    verb.add_option("--cache", options->cache, "none, contiguous or paged")
        ->type_name("KIND")
        ->capture_default_str();
    add_cache_options(verb, options->cache_options);
    add_request_options(verb, options->request);
    add_model_options(verb, options->model);
    add_tape_options(verb, options->tape);
    verb.add_option("--logits", options->logits,
                    "write the logits as float32 [positions, vocab], a row for each position fed")
        ->type_name("FILE.npy");
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "Examples:\n"
        "  kvtape run --prompt \"Mia has 4821. Ben has\" --max-tokens 40\n"
        "  kvtape run --prompt-file story.txt --cache paged --block-size 16 --tape story.tape\n"
        "  kvtape run --ids 5,17,3 --cache none --logits logits.npy --json\n"
        "  kvtape run --prompt \"Mia\" --kv-cache-dtype fp8_e4m3 --kv-scale 0.5 --temperature 0.8");
    return [options] { return run(*options); };
}

}  // namespace kvtape
