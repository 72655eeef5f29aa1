// What is asked for, and whether it can be done at all. A request that does not fit is refused
// before anything is computed; nothing is ever cut off to make it fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference_cpu/sampler.h"

namespace kvtape {

struct Request {
    std::vector<std::int32_t> prompt;        // token ids, at least one
    std::optional<std::int64_t> max_tokens;  // new tokens; absent: as many as fit
    Sampling sampling;
    std::vector<std::int32_t> stop_ids;  // a picked token among these ends the sequence
    std::int64_t prefill_chunk = 0;      // prompt tokens per pass; 0: the whole prompt in one
    bool all_logits = false;  // logits for every position, not only where a token is picked
};

// How long a sequence may become: prompt and new tokens together, the last one included although it
// is never fed back. For messages: where the limit comes from, and what would raise it, if anything
// would.
struct LengthLimit {
    std::int64_t tokens;
    std::string reason = "max_model_len";
    std::string remedy = {};
};

// The limit, or that which the memory for the cache sets if it is lower.
LengthLimit limit_by_memory(const LengthLimit& limit, std::int64_t cache_bytes,
                            std::int64_t bytes_per_token);

// Checks the request and returns the number of new tokens it may have. Throws Error with all
// numbers when the prompt is empty or leaves no room for a token, when prompt and max_tokens
// together exceed the limit, or when an option is out of range.
std::int64_t admit(const Request& request, const LengthLimit& limit);

}  // namespace kvtape
