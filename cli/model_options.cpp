#include "cli/model_options.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/prompt_file.h"
#include "cli/units.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

constexpr int most_threads = 1024;

// More threads than this do not help the small models that kvtape is made for.
int default_threads() {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(cores, 1, 8);
}

}  // namespace

void add_model_options(CLI::App& verb, ModelOptions& options) {
    options.directory = default_model_directory();
    verb.add_option("--model", options.directory,
                    "folder with config.json, model.safetensors and tokenizer.json (default: the "
                    "variable KVTAPE_MODEL, or the model that ships with kvtape)")
        ->type_name("DIR");
    add_number(verb, "--rope-theta", options.rope_theta,
               "base of the RoPE angles in place of the one in config.json")
        ->type_name("X");
    add_threads_option(verb, options.threads);
}

void add_threads_option(CLI::App& verb, int& threads) {
    threads = default_threads();
    add_number(verb, "--threads", threads, "threads; their number never changes a bit")
        ->type_name("N");
}

void check(const ModelOptions& options) {
    check_between("--threads", options.threads, 1, most_threads);
}

std::string default_model_directory() {
    const char* const chosen = std::getenv("KVTAPE_MODEL");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    return KVTAPE_SOURCE_DIR "/models/storyteller";
}

std::string LoadedModel::bytes_of(std::int32_t id) const {
    if (!tokenizer || id >= tokenizer->vocab_size()) return {};
    return tokenizer->bytes_of(id);
}

std::string LoadedModel::text_of(std::span<const std::int32_t> ids,
                                 std::span<const std::int32_t> stop_ids) const {
    std::string bytes;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const bool stops = i + 1 == ids.size() &&
                           std::find(stop_ids.begin(), stop_ids.end(), ids[i]) != stop_ids.end();
        if (!stops) bytes += bytes_of(ids[i]);
    }
    return printable(bytes);
}

LoadedModel load(const ModelOptions& options) {
    check(options);
    const fs::path directory = options.directory;
    Model<float> model = load_model(options.directory, options.rope_theta);
    for (const std::string& note : model.config.notes) say("note: config.json: " + note);

    std::optional<Tokenizer> tokenizer;
    const fs::path tokenizer_path = directory / "tokenizer.json";
    if (fs::exists(tokenizer_path)) tokenizer = Tokenizer::load(tokenizer_path.string());

    // The last part of the path, also when it ends in a slash or is ".".
    const fs::path absolute = fs::weakly_canonical(directory);
    return {std::move(model), std::move(tokenizer), printable(absolute.filename().string())};
}

void add_prompt_options(CLI::App& verb, PromptOptions& options) {
    verb.add_option("--prompt", options.text, "the prompt")->type_name("TEXT");
    verb.add_option("--prompt-file", options.file,
                    "a file that holds the prompt, or - for standard input; every byte counts, a "
                    "last newline too")
        ->type_name("FILE");
    verb.add_option("--ids", options.ids, "the prompt as token ids: 1,2,3")->type_name("LIST");
}

void check(const PromptOptions& options) {
    const int given = static_cast<int>(options.text.has_value()) +
                      static_cast<int>(options.file.has_value()) +
                      static_cast<int>(options.ids.has_value());
    if (given != 1) {
        throw UsageError(given == 0
                             ? "no prompt; give --prompt TEXT, --prompt-file FILE or --ids 1,2,3"
                             : "more than one prompt; give only one of --prompt, "
                               "--prompt-file and --ids");
    }
}

std::vector<std::int32_t> prompt_ids(const PromptOptions& options, const LoadedModel& loaded) {
    check(options);
    if (!options.ids) {
        if (!loaded.tokenizer) {
            fail("the model has no tokenizer.json, so the prompt must be given as --ids 1,2,3");
        }
        const std::string text = options.text ? *options.text : read_prompt_file(*options.file);
        try {
            return loaded.tokenizer->encode(text);
        } catch (const Error& error) {
            fail(options.text ? "--prompt" : "--prompt-file " + *options.file, ": ", error.what());
        }
    }
    std::vector<std::int32_t> ids;
    if (!options.ids->empty()) ids = parse_numbers<std::int32_t>("--ids", *options.ids);
    const std::int64_t vocab = loaded.model.config.shape.vocab;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0 || ids[i] >= vocab) {
            fail("--ids: token id ", ids[i], " (number ", i + 1,
                 ") is not in the vocabulary; use 0 to ", vocab - 1);
        }
    }
    return ids;
}

}  // namespace kvtape
