// `kvtape compare`: the three decoders on one prompt, what each did, and whether every bit is
// equal.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/comparison_report.h"
#include "cli/comparison_run.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/request_options.h"
#include "cli/verbs.h"

namespace kvtape {
namespace {

struct CompareOptions {
    ModelOptions model;
    PromptOptions prompt;
    CacheOptions cache;
    RequestOptions request;
    TapeOptions tape;
    bool json = false;
};

int compare_decoders(const CompareOptions& options) {
    check(options.model);
    check(options.prompt);
    check(options.cache);
    check(options.request);
    Progress progress("loading the model");
    const LoadedModel loaded = load(options.model);
    const ModelConfig& config = loaded.model.config;
    const Request request =
        make_request(options.request, prompt_ids(options.prompt, loaded), config);

    std::int64_t generated = 0;
    const auto show_progress = [&](const Step& step) {
        if (step.lane == 0 && !step.spans.front().sampled.empty()) generated += 1;
        progress.update("three decoders in lockstep, " + counted(generated, "token") + " so far");
    };
    const ComparisonRun run =
        run_comparison(loaded, request, length_limit(options.request, config), options.cache,
                       options.model.threads, options.tape, {.begins = {}, .step = show_progress});
    progress.stop();

    const std::string warning = loss_warning(options.cache, comparison_losses(run));
    if (!warning.empty()) say("warning: " + warning);
    if (options.json) {
        print_json(comparison_json(run, loaded, request));
    } else {
        const auto& ids = run.comparison.decoders.front().generation.token_ids;
        print(loaded.text_of(ids, request.stop_ids) + "\n\n" + comparison_table(run) + "\n" +
              verdict_line(run) + "\n" + margin_line(run) + "\n");
        if (options.tape.path) {
            print("tape: " + *options.tape.path + ", " + std::to_string(run.tape_steps) +
                  " steps; look into it with 'kvtape inspect'\n");
        }
    }
    return conclude(run);
}

}  // namespace

Action add_compare(CLI::App& verb) {
    const auto options = std::make_shared<CompareOptions>();
    add_prompt_options(verb, options->prompt);
    add_cache_options(verb, options->cache);
    add_request_options(verb, options->request);
    add_model_options(verb, options->model);
    add_tape_options(verb, options->tape);
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "The decoders run in lockstep, one pass of each in turn. The logits of every step are "
        "compared\n"
        "bit for bit; so is every row of K and V that any of them stores, by a 64-bit hash of its\n"
        "bytes. Times include the recording and hashing of every access.\n"
        "\n"
        "Examples:\n"
        "  kvtape compare --prompt \"Mia has 4821. Ben has\" --max-tokens 50\n"
        "  kvtape compare --prompt-file story.txt --block-size 3 --prefill-chunk 7 --tape c.tape\n"
        "  kvtape compare --ids 5,17,3 --kv-cache-dtype bf16 --json");
    return [options] { return compare_decoders(*options); };
}

}  // namespace kvtape
