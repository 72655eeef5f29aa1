#include "cli/request_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/number_options.h"
#include "cli/units.h"
#include "core/check.h"

namespace kvtape {

void add_request_options(CLI::App& verb, RequestOptions& options) {
    add_number(verb, "--max-tokens", options.max_tokens,
               "new tokens at most (default: until the model ends the text, or the limit)")
        ->type_name("N");
    add_number(verb, "--max-model-len", options.max_model_len,
               "limit for prompt and new tokens together; may only lower the model's own")
        ->type_name("N");
    add_number(verb, "--prefill-chunk", options.prefill_chunk,
               "prompt tokens per pass (default: the whole prompt in one)")
        ->type_name("N");
    add_number(verb, "--temperature", options.sampling.temperature,
               "0 picks the likeliest token, higher is more random")
        ->type_name("X");
    add_number(verb, "--top-p", options.sampling.top_p,
               "draw only from the likeliest tokens that together reach this probability")
        ->type_name("P");
    add_number(verb, "--seed", options.sampling.seed, "of the random numbers for temperature > 0")
        ->type_name("N");
    verb.add_flag("--ignore-eos", options.ignore_eos, "go on when the model ends the text");
}

void check(const RequestOptions& options) {
    if (options.max_tokens) check_at_least("--max-tokens", *options.max_tokens, 1);
    if (options.max_model_len) check_at_least("--max-model-len", *options.max_model_len, 2);
    if (options.prefill_chunk) check_at_least("--prefill-chunk", *options.prefill_chunk, 1);
    validate(options.sampling);
}

LengthLimit length_limit(const RequestOptions& options, const ModelConfig& config) {
    check(options);
    if (!options.max_model_len) return {config.max_model_len};
    if (*options.max_model_len > config.max_model_len) {
        fail("--max-model-len is ", *options.max_model_len, ", the model was made for at most ",
             config.max_model_len, " tokens (max_position_embeddings); use no more than that");
    }
    return {*options.max_model_len, "--max-model-len", "raise --max-model-len"};
}

Request make_request(const RequestOptions& options, std::vector<std::int32_t> prompt,
                     const ModelConfig& config) {
    check(options);
    Request request;
    request.prompt = std::move(prompt);
    request.max_tokens = options.max_tokens;
    request.sampling = options.sampling;
    if (!options.ignore_eos) request.stop_ids = config.eos_token_ids;
    request.prefill_chunk = options.prefill_chunk.value_or(0);
    return request;
}

}  // namespace kvtape
