#include "viewer/guide_facts.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tracer/cost_model.h"

namespace kvtape {
namespace {

// None if the lane has no step with tokens.
std::optional<LaneFacts> facts_of(const LaneHistory& lane, std::size_t index) {
    if (lane.sequences().empty()) return std::nullopt;
    LaneFacts facts;
    facts.index = index;
    facts.history = &lane;
    facts.sequence = lane.sequences().front();
    bool begun = false;
    for (std::int64_t step = 0; step < lane.steps(); ++step) {
        const SpanRecord* span = lane.span(step, facts.sequence);
        if (span == nullptr) continue;
        if (!begun) facts.prefill = step;
        begun = true;
        facts.last = step;
        if (lane.step(step).phase == Phase::decode && !facts.decode) facts.decode = step;
        if (facts.decode) continue;
        facts.last_prefill = step;
        facts.prompt = span->first_position + std::ssize(span->tokens);
    }
    return facts;
}

std::vector<Sampled> picks(const LaneHistory& lane, std::int64_t step) {
    std::vector<Sampled> all;
    for (const SpanRecord& span : lane.step(step).spans) {
        all.insert(all.end(), span.sampled.begin(), span.sampled.end());
    }
    return all;
}

}  // namespace

std::int64_t LaneFacts::last_position(std::int64_t step) const {
    for (; step >= 0; --step) {
        const SpanRecord* span = history->span(step, sequence);
        if (span != nullptr) return span->first_position + std::ssize(span->tokens) - 1;
    }
    return 0;
}

GuideCells LaneFacts::columns_of(std::int64_t from, std::int64_t to) const {
    const std::int64_t a = last_position(from), b = last_position(to);
    return column(std::min(a, b), std::abs(b - a) + 1);
}

std::int64_t LaneFacts::tokens(std::int64_t step) const {
    std::int64_t all = 0;
    for (const SpanRecord& span : history->step(step).spans) all += std::ssize(span.tokens);
    return all;
}

std::string LaneFacts::token(std::int64_t position) const {
    return "'" + history->text(sequence, position) + "'";
}

Cell LaneFacts::cell(std::int64_t step, const TrackId& track, std::int64_t position) const {
    return history->playback().cell(step, sequence, track.layer, track.kv_head, track.kind,
                                    position);
}

std::int64_t LaneFacts::bytes_per_token() const {
    return kv_bytes_per_token(shape(), history->lane().kv_cache_dtype);
}

TapeFacts::TapeFacts(const Show& show) {
    std::optional<LaneFacts> decodes, contiguous, steps;
    const auto first = [](std::optional<LaneFacts>& place, const LaneFacts& facts) {
        if (!place) place = facts;
    };
    for (std::size_t i = 0; i < show.lanes().size(); ++i) {
        const auto facts = facts_of(*show.lanes()[i], i);
        if (!facts) continue;
        first(steps, *facts);
        if (!facts->decode) continue;
        first(decodes, *facts);
        const std::string& cache = facts->history->lane().cache;
        if (cache == "none") first(no_cache, *facts);
        if (cache == "contiguous") first(contiguous, *facts);
        if (cache == "paged") first(paged, *facts);
    }
    cached = contiguous ? contiguous : paged;
    any = cached ? cached : decodes ? decodes : steps;
}

EqualPicks equal_picks(const LaneHistory& a, const LaneHistory& b) {
    EqualPicks found;
    for (std::int64_t step = 0; step < std::min(a.steps(), b.steps()); ++step) {
        const std::vector<Sampled> of_a = picks(a, step), of_b = picks(b, step);
        for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
            found.picked += 1;
            found.equal +=
                of_a[i].token == of_b[i].token && std::bit_cast<std::uint32_t>(of_a[i].logit) ==
                                                      std::bit_cast<std::uint32_t>(of_b[i].logit);
        }
    }
    return found;
}

std::string picks_text(const LaneFacts& a, const LaneFacts& b) {
    const auto [picked, equal] = equal_picks(*a.history, *b.history);
    if (equal == picked) {
        return say("Both picked ", picked,
                   " tokens, and all are the same, with the same [logit] to "
                   "the last bit.");
    }
    const auto dtype = [](const LaneFacts& lane) {
        return kvtape::name(lane.history->lane().kv_cache_dtype);
    };
    std::string text = say("Both picked ", picked, " tokens; ", equal,
                           " are the same, with the same [logit] to the last bit.");
    if (std::string(dtype(a)) != dtype(b)) {
        text += say(" They store other numbers: lane '", a.name(), "' rounds to ", dtype(a),
                    ", lane '", b.name(), "' to ", dtype(b), ".");
    }
    return text;
}

std::int64_t linear_flops(const FlopCounts& flops) {
    return flops[Component::projections] + flops[Component::mlp];
}

}  // namespace kvtape
