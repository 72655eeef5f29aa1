// Everything a sequence left behind: the logits of each of its positions and the bits of each row
// that was stored for it. Two ways to decode are the same if their transcripts are, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/random.h"
#include "reference_cpu/forward.h"
#include "tracer/recorder.h"

namespace kvtape {

struct RowId {
    std::int32_t layer, kv_head;
    Kind kind;
    std::int64_t position;
    friend auto operator<=>(const RowId&, const RowId&) = default;
};

struct Transcript {
    std::vector<float> logits;          // (T, V)
    std::map<RowId, std::string> rows;  // the stored codes, D each
};

// What a sequence is fed: its tokens, cut into passes of so many tokens.
struct Feed {
    SequenceId sequence;
    std::vector<std::int32_t> tokens;  // (T)
    std::vector<std::int64_t> passes;  // their sum is T
};

// `total` tokens in passes of `chunk`; the last may be shorter.
inline std::vector<std::int64_t> chunks(std::int64_t total, std::int64_t chunk) {
    std::vector<std::int64_t> passes(static_cast<std::size_t>(total / chunk), chunk);
    if (total % chunk != 0) passes.push_back(total % chunk);
    return passes;
}

// A prompt in one pass, then decode steps of one token.
inline std::vector<std::int64_t> prompt_then_steps(std::int64_t total, std::int64_t prompt) {
    std::vector<std::int64_t> passes(static_cast<std::size_t>(total - prompt), 1);
    passes.insert(passes.begin(), prompt);
    return passes;
}

namespace detail {

// How far one feed has come.
struct Progress {
    const Feed* feed;
    Transcript* transcript;
    std::size_t pass = 0;
    std::int64_t fed = 0;

    bool done() const { return pass == feed->passes.size(); }
    std::int64_t end() const { return fed + feed->passes[pass]; }
};

inline void note_rows(const std::vector<StoredRows>& stored, std::int64_t row_bytes,
                      SequenceId sequence, Transcript& t) {
    for (const StoredRows& rows : stored) {
        if (rows.sequence != sequence) continue;
        RowId id{rows.layer, rows.kv_head, rows.kind, rows.position_begin};
        const auto bytes = static_cast<std::size_t>(row_bytes);
        for (std::size_t begin = 0; begin < rows.codes.size(); begin += bytes, ++id.position) {
            const std::string codes = rows.codes.substr(begin, bytes);
            const auto [known, inserted] = t.rows.emplace(id, codes);
            // Without a cache a row is computed again and again: always to the same bits.
            EXPECT_TRUE(inserted || known->second == codes)
                << "layer " << id.layer << ", position " << id.position << " changed";
        }
    }
}

}  // namespace detail

// Feeds all sequences until each is done. Every pass is a batch of the sequences that have tokens
// left; with `shuffle`, of a random part of them in random order.
inline std::vector<Transcript> feed(const Model<float>& model, KvCache& cache, Team& team,
                                    const std::vector<Feed>& feeds, Random* shuffle = nullptr) {
    const std::int64_t vocab = model.config.shape.vocab;
    std::vector<Transcript> transcripts(feeds.size());
    std::vector<detail::Progress> all;
    for (std::size_t i = 0; i < feeds.size(); ++i) all.push_back({&feeds[i], &transcripts[i]});

    for (;;) {
        std::erase_if(all, [](const detail::Progress& p) { return p.done(); });
        if (all.empty()) return transcripts;
        std::size_t taking_part = all.size();
        if (shuffle) {
            for (std::size_t i = all.size(); i > 1; --i) {
                std::swap(all[i - 1], all[shuffle->below(i)]);
            }
            taking_part = 1 + shuffle->below(all.size());
        }

        std::vector<Span> spans;
        for (std::size_t i = 0; i < taking_part; ++i) {
            const Feed& what = *all[i].feed;
            const std::int64_t begin = cache.length(what.sequence);
            spans.push_back({what.sequence, begin,
                             std::span(what.tokens).subspan(begin, all[i].end() - begin),
                             all[i].end() - all[i].fed});
        }
        // A recorder of one pass lists all of its rows, also those that an earlier pass stored.
        Recorder recorder(team.size(), {.codes = true});
        const auto result = forward(model, spans, cache, recorder, team);
        const auto accesses = recorder.take_step();

        auto logits = result.logits.begin();
        for (std::size_t i = 0; i < taking_part; ++i) {
            detail::Progress& p = all[i];
            const auto logits_end = logits + (p.end() - p.fed) * vocab;
            p.transcript->logits.insert(p.transcript->logits.end(), logits, logits_end);
            logits = logits_end;
            detail::note_rows(accesses.rows, cache.row_bytes(), p.feed->sequence, *p.transcript);
            p.fed = p.end();
            ++p.pass;
        }
    }
}

inline Transcript feed_one(const Model<float>& model, KvCache& cache, Team& team,
                           const std::vector<std::int32_t>& tokens,
                           const std::vector<std::int64_t>& passes, SequenceId sequence = 0) {
    return feed(model, cache, team, {{sequence, tokens, passes}}).front();
}

// Compares the bytes of all logits and of all rows, and names the first of each that differs.
inline testing::AssertionResult same_bits(const Transcript& actual, const Transcript& expected) {
    if (actual.logits.size() != expected.logits.size()) {
        return testing::AssertionFailure()
               << actual.logits.size() << " logits instead of " << expected.logits.size();
    }
    for (std::size_t i = 0; i < actual.logits.size(); ++i) {
        if (std::memcmp(&actual.logits[i], &expected.logits[i], sizeof(float)) == 0) continue;
        return testing::AssertionFailure() << "logit " << i << " is " << actual.logits[i]
                                           << " instead of " << expected.logits[i];
    }
    if (actual.rows.size() != expected.rows.size()) {
        return testing::AssertionFailure()
               << actual.rows.size() << " rows instead of " << expected.rows.size();
    }
    for (auto a = actual.rows.begin(), e = expected.rows.begin(); a != actual.rows.end();
         ++a, ++e) {
        if (*a == *e) continue;
        return testing::AssertionFailure()
               << "the row of layer " << a->first.layer << ", KV head " << a->first.kv_head
               << ", position " << a->first.position << " has other bits";
    }
    return testing::AssertionSuccess();
}

}  // namespace kvtape
