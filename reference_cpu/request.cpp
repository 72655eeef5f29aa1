#include "reference_cpu/request.h"

#include <algorithm>

#include "core/check.h"
#include "core/number_text.h"

namespace kvtape {

LengthLimit limit_by_memory(const LengthLimit& limit, std::int64_t cache_bytes,
                            std::int64_t bytes_per_token) {
    const std::int64_t fits = cache_bytes / bytes_per_token;
    if (fits >= limit.tokens) return limit;
    if (fits < 1) {
        fail("the cache may use ", cache_bytes, " bytes, one token needs ", bytes_per_token,
             "; allow more memory");
    }
    return {fits,
            "the cache's " + std::to_string(cache_bytes) + " bytes at " +
                std::to_string(bytes_per_token) + " bytes per token",
            "allow the cache more memory"};
}

std::int64_t admit(const Request& request, const LengthLimit& limit) {
    validate(request.sampling);
    const std::int64_t prompt = std::ssize(request.prompt);
    if (prompt == 0) fail("the prompt has no tokens; give at least one");
    if (request.prefill_chunk < 0) {
        fail("prefill chunk: ", request.prefill_chunk, " tokens; use 0 (whole prompt) or more");
    }
    const std::int64_t room = limit.tokens - prompt;
    if (room < 1) {
        fail("the prompt has ", counted(prompt, "token"), ", the limit is ", limit.tokens, " (",
             limit.reason, ") for prompt and new tokens together; shorten the prompt by ", 1 - room,
             limit.remedy.empty() ? "" : ", or ", limit.remedy);
    }
    if (!request.max_tokens) return room;
    if (*request.max_tokens < 1) fail("max_tokens is ", *request.max_tokens, "; use 1 or more");
    if (*request.max_tokens > room) {
        // Unsigned, because the sum of an absurd request does not fit 63 bits.
        const std::uint64_t in_all =
            static_cast<std::uint64_t>(prompt) + static_cast<std::uint64_t>(*request.max_tokens);
        fail("the prompt has ", counted(prompt, "token"), " and ", *request.max_tokens,
             " are requested, ", in_all, " in all; the limit is ", limit.tokens, " (", limit.reason,
             "), over by ", *request.max_tokens - room, "; the largest max_tokens is ", room,
             limit.remedy.empty() ? "" : ", or ", limit.remedy);
    }
    return *request.max_tokens;
}

}  // namespace kvtape
