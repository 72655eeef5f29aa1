// What is asked of the decoder: how many tokens, picked how, the prompt in which chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/app.h"
#include "cli/model_options.h"
#include "reference_cpu/request.h"

namespace kvtape {

struct RequestOptions {
    std::optional<std::int64_t> max_tokens;
    std::optional<std::int64_t> max_model_len;
    std::optional<std::int64_t> prefill_chunk;
    Sampling sampling;
    bool ignore_eos = false;
};

// Adds --max-tokens, --max-model-len, --prefill-chunk, --temperature, --top-p, --seed,
// --ignore-eos.
void add_request_options(CLI::App& verb, RequestOptions& options);

// Throws Error for the first option that is out of range.
void check(const RequestOptions& options);

// What the model was made for, or --max-model-len, which may only lower that. Throws Error above.
LengthLimit length_limit(const RequestOptions& options, const ModelConfig& config);

Request make_request(const RequestOptions& options, std::vector<std::int32_t> prompt,
                     const ModelConfig& config);

}  // namespace kvtape
