// Which model, on how many threads, and with which prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.h"
#include "reference_cpu/model.h"
#include "reference_cpu/tokenizer.h"

namespace kvtape {

struct ModelOptions {
    std::string directory;
    int threads;
    std::optional<double> rope_theta = std::nullopt;  // in place of the config's
};

// Adds --model, --rope-theta and --threads.
void add_model_options(CLI::App& verb, ModelOptions& options);
void add_threads_option(CLI::App& verb, int& threads);

void check(const ModelOptions& options);

// The variable KVTAPE_MODEL, or the model that ships with the source.
std::string default_model_directory();

struct LoadedModel {
    Model<float> model;
    std::optional<Tokenizer> tokenizer;  // none: the folder has no tokenizer.json
    std::string name;                    // of the folder

    // The bytes of a token; none if there is no tokenizer, or the id is padding of the vocabulary.
    std::string bytes_of(std::int32_t id) const;
    // Valid UTF-8. `stop_ids` at the end are not part of the text.
    std::string text_of(std::span<const std::int32_t> ids,
                        std::span<const std::int32_t> stop_ids) const;
};

// Loads config.json, model.safetensors and, if it is there, tokenizer.json. Defaults that the
// config leaves open are said on standard error. Throws Error if a file is missing or malformed.
LoadedModel load(const ModelOptions& options);

struct PromptOptions {
    std::optional<std::string> text;
    std::optional<std::string> file;
    std::optional<std::string> ids;
};

// Adds --prompt, --prompt-file and --ids.
void add_prompt_options(CLI::App& verb, PromptOptions& options);

// The token ids of the one prompt that is given. Throws UsageError unless exactly one is, Error if
// it cannot be read, is not UTF-8 or holds ids outside the vocabulary.
std::vector<std::int32_t> prompt_ids(const PromptOptions& options, const LoadedModel& loaded);

// Throws UsageError unless exactly one way to give the prompt is used.
void check(const PromptOptions& options);

}  // namespace kvtape
