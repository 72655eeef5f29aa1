#include "cli/model_options.h"

#include <algorithm>
#include <charconv>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/output.h"
#include "cli/units.h"
#include "reference_cpu/input_file.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_prompt_bytes = 64 << 20;
constexpr int most_threads = 1024;

// More threads than this do not help the small models that kvtape is made for.
int default_threads() {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(cores, 1, 8);
}

std::vector<std::int32_t> parse_ids(std::string_view text) {
    std::vector<std::int32_t> ids;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        while (at != end && *at == ' ') ++at;
        std::int32_t id = 0;
        const auto [after, error] = std::from_chars(at, end, id);
        if (error != std::errc()) {
            fail("--ids is '", text, "'; use token ids with commas between them, such as 1,2,3");
        }
        ids.push_back(id);
        at = after;
        while (at != end && *at == ' ') ++at;
        if (at == end) return ids;
        if (*at++ != ',') {
            fail("--ids is '", text, "'; use token ids with commas between them, such as 1,2,3");
        }
    }
}

}  // namespace

void add_model_options(CLI::App& verb, ModelOptions& options) {
    options.directory = default_model_directory();
    verb.add_option("--model", options.directory,
                    "folder with config.json, model.safetensors and tokenizer.json (default: the "
                    "variable KVTAPE_MODEL, or the model that ships with kvtape)")
        ->type_name("DIR");
    verb.add_option("--rope-theta", options.rope_theta,
                    "base of the RoPE angles in place of the one in config.json")
        ->type_name("X");
    add_threads_option(verb, options.threads);
}

void add_threads_option(CLI::App& verb, int& threads) {
    threads = default_threads();
    verb.add_option("--threads", threads, "threads; their number never changes a bit")
        ->type_name("N")
        ->capture_default_str();
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
    if (!fs::is_directory(directory)) {
        fail("there is no model folder '", options.directory,
             "'; --model takes a folder with config.json, model.safetensors and tokenizer.json");
    }
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
                    "a file that holds the prompt; every byte counts, a last newline too")
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
        const std::string text =
            options.text ? *options.text : read_text_file(*options.file, largest_prompt_bytes);
        return loaded.tokenizer->encode(text);
    }
    std::vector<std::int32_t> ids;
    if (!options.ids->empty()) ids = parse_ids(*options.ids);
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
