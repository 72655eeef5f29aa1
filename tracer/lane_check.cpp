#include "tracer/lane_check.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/check.h"
#include "tracer/cost_model.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

// Comparing reads with what they should be takes time in proportion to runs and, where a recorder
// has not joined them, to their queries. This is the most that one step may ask for; a hostile tape
// can ask for more.
constexpr std::int64_t most_work = std::int64_t{1} << 26;
constexpr std::int64_t work_per_joined_query = 8;

template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    return stream.str();
}

template <class Run>
std::string place(const Run& run) {
    return text("sequence ", run.sequence, ", layer ", run.layer, ", KV head ", run.kv_head,
                run.kind == Kind::key ? ", keys" : ", values");
}

void add(std::int64_t& total, std::int64_t amount) {
    if (amount > INT64_MAX - total) fail("the tape's totals leave the 64-bit range");
    total += amount;
}

std::int64_t end_of(const SpanRecord& span) {
    return span.first_position + static_cast<std::int64_t>(span.tokens.size());
}

// In the order of the runs of a step.
std::vector<SpanRecord> sorted_spans(const Step& step) {
    std::vector<SpanRecord> spans = step.spans;
    std::sort(spans.begin(), spans.end(),
              [](const SpanRecord& a, const SpanRecord& b) { return a.sequence < b.sequence; });
    return spans;
}

// Roughly the FLOPs of the step, as a number that cannot overflow.
double estimated_flops(const ModelShape& shape, const Step& step) {
    const auto d = static_cast<double>(shape.hidden), layers = static_cast<double>(shape.layers);
    const auto qkv = static_cast<double>((shape.heads + shape.kv_heads) * shape.head_dim);
    const auto ffn = static_cast<double>(shape.ffn), vocab = static_cast<double>(shape.vocab);
    double flops = 0;
    for (const SpanRecord& span : step.spans) {
        const auto tokens = static_cast<double>(span.tokens.size());
        const auto keys = static_cast<double>(end_of(span));
        flops += tokens * layers * (4 * d * qkv + 6 * d * ffn + 8 * (keys + 1) * qkv);
        flops += static_cast<double>(span.logit_rows) * 2 * d * vocab;
    }
    return flops;
}

}  // namespace

LaneCheck::LaneCheck(const TapeHeader& header, std::int32_t lane, Report report)
    : shape_(header.shape),
      lane_(header.lanes.at(static_cast<std::size_t>(lane))),
      report_(std::move(report)),
      tables_(lane_) {}

void LaneCheck::check(const Step& step) {
    ++totals_.steps;
    if (lane_.cache == "none") follow(tables_.forget_all());
    for (const PoolEvent& event : step.pool) {
        has_pool_events_ = true;
        if (!after_pass(event, step)) follow(tables_.apply(event));
    }
    check_positions(step);
    const WriteRun* first = nullptr;  // of the sequence: its track tells where the rows lie
    for (const WriteRun& run : step.writes) {
        if (first == nullptr || first->sequence != run.sequence) first = &run;
        if (tables_.paged()) check_place(run);
        if (same_track(run, *first)) follow(tables_.note(run));
    }
    for (const SpanRecord& span : step.spans) count_rows(span);
    check_reads(step);
    for (const PoolEvent& event : step.pool) {
        if (after_pass(event, step)) follow(tables_.apply(event));
    }
    check_bytes(step);
    check_flops(step);
}

void LaneCheck::follow(const BlockChanges& changes) {
    for (const BlockChange& change : changes) {
        const std::pair entry(change.sequence, change.index);
        switch (change.what) {
            case BlockChange::What::hold_begins:
                if (holders_[change.block]++ == 0) rows_.erase(change.block);
                break;
            case BlockChange::What::revived:
                ++holders_[change.block];
                break;
            case BlockChange::What::hold_ends:
                if (--holders_[change.block] > 0) break;
                holders_.erase(change.block);
                if (!tables_.paged()) rows_.erase(change.block);  // nobody can revive it
                break;
            case BlockChange::What::rows_saved:
                set_aside_[entry] = rows_[change.block];
                break;
            case BlockChange::What::rows_restored:
                rows_[change.block] = set_aside_[entry];
                set_aside_.erase(entry);
                break;
        }
    }
}

// ---- writes -----------------------------------------------------------------------------------

// Every position of every span must have been written once, in each layer, KV head and kind. The
// runs come in just this order, so one walk over both finds the first difference.
void LaneCheck::check_positions(const Step& step) {
    auto run = step.writes.begin();
    for (const SpanRecord& span : sorted_spans(step)) {
        WriteRun expected{span.sequence, 0, 0, Kind::key, span.first_position, end_of(span), 0};
        for (; expected.layer < shape_.layers; ++expected.layer) {
            for (expected.kv_head = 0; expected.kv_head < shape_.kv_heads; ++expected.kv_head) {
                for (const Kind kind : {Kind::key, Kind::value}) {
                    expected.kind = kind;
                    std::int64_t position = expected.position_begin;
                    const auto goes_on = [&] {
                        return run != step.writes.end() && run->sequence == expected.sequence &&
                               run->layer == expected.layer && run->kv_head == expected.kv_head &&
                               run->kind == kind && run->position_begin == position;
                    };
                    while (goes_on()) position = run++->position_end;
                    if (position != expected.position_end) {
                        return report_(
                            text(place(expected), ": wrote positions [", expected.position_begin,
                                 ", ", position, ") without repetition; the step computed [",
                                 expected.position_begin, ", ", expected.position_end, ")"));
                    }
                }
            }
        }
    }
    if (run != step.writes.end()) report_(text(place(*run), ": wrote a position twice"));
}

// A row of a paged sequence belongs where its block table says, in a block of its own.
void LaneCheck::check_place(const WriteRun& run) {
    const std::int64_t size = tables_.block_size();
    for (std::int64_t position = run.position_begin; position < run.position_end;) {
        const std::int64_t index = position / size;
        const std::int64_t block = tables_.block(run.sequence, index);
        const std::int64_t slot = run.slot_begin + (position - run.position_begin);
        const std::int64_t expected = block * size + position % size;
        if (block >= 0 ? slot != expected : has_pool_events_) {
            const std::string entry =
                block < 0 ? "has no block for it" : text("has slot ", expected, " for it");
            return report_(text(place(run), ": wrote position ", position, " to slot ", slot,
                                "; the block table ", entry));
        }
        if (block >= 0 && tables_.holders(block) > 1) {
            return report_(text(place(run), ": wrote position ", position, " into block ", block,
                                ", which other sequences hold too"));
        }
        position = (index + 1) * size;
    }
}

void LaneCheck::count_rows(const SpanRecord& span) {
    const std::int64_t size = tables_.block_size();
    for (std::int64_t position = span.first_position; position < end_of(span);) {
        const std::int64_t index = position / size;
        const std::int64_t end = std::min(end_of(span), (index + 1) * size);
        const std::int64_t block = tables_.block(span.sequence, index);
        if (block < 0) return;  // nothing was written there, as check_positions has said
        std::int64_t& rows = rows_[block];
        if (position % size < rows) {
            report_(text("sequence ", span.sequence, ": wrote position ", position,
                         " over a row that was there already"));
        } else if (position % size > rows) {
            report_(text("sequence ", span.sequence, ": wrote position ", position,
                         " but not the one before it"));
        }
        rows = std::max(rows, end - index * size);
        position = end;
    }
}

// ---- reads ------------------------------------------------------------------------------------

// As check_positions, for the queries.
void LaneCheck::check_reads(const Step& step) {
    std::int64_t work_left = most_work;
    const auto end = step.reads.end();
    auto run = step.reads.begin();
    for (const SpanRecord& span : sorted_spans(step)) {
        for (std::int32_t layer = 0; layer < shape_.layers; ++layer) {
            for (std::int32_t kv_head = 0; kv_head < shape_.kv_heads; ++kv_head) {
                const auto first = run;
                while (run != end && run->sequence == span.sequence && run->layer == layer &&
                       run->kv_head == kv_head) {
                    ++run;
                }
                if (!reads_prefix({first, run}, span, kv_head, work_left)) {
                    return report_(text("sequence ", span.sequence, ", layer ", layer, ", KV head ",
                                        kv_head, ": the query heads at positions [",
                                        span.first_position, ", ", end_of(span),
                                        ") did not each read the keys and values of exactly "
                                        "their causal prefix, once"));
                }
            }
        }
        check_present(span);
    }
    if (run != end) report_(text(place(*run), ": read by nobody's query"));
}

// Whether the runs of one KV head read exactly the causal prefix of each query, for each head.
bool LaneCheck::reads_prefix(std::span<const ReadRun> runs, const SpanRecord& span,
                             std::int64_t kv_head, std::int64_t& work_left) const {
    const std::int64_t first_head = kv_head * shape_.group_size();
    std::set<std::int64_t> borders = {first_head, first_head + shape_.group_size()};
    for (const ReadRun& run : runs) borders.insert({run.head_begin, run.head_end});
    work_left -= std::ssize(runs) * std::ssize(borders);
    if (work_left < 0) return false;

    // Between two borders, the same runs serve all heads.
    for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
        for (const Kind kind : {Kind::key, Kind::value}) {
            std::vector<ReadRun> of_heads;
            std::int64_t queries = 0;
            for (ReadRun run : runs) {
                if (run.kind != kind || run.head_begin > *border || run.head_end <= *border) {
                    continue;
                }
                run.head_begin = run.head_end = 0;
                of_heads.push_back(run);
                queries += run.query_end - run.query_begin;
            }
            if (of_heads.size() > 1) work_left -= queries * work_per_joined_query;
            if (work_left < 0) return false;
            const std::vector<ReadRun> joined = canonical(std::move(of_heads));
            const bool exact = joined.size() == 1 && joined[0].causal && joined[0].key_begin == 0 &&
                               joined[0].query_begin == span.first_position &&
                               joined[0].query_end == end_of(span);
            if (!exact) return false;
        }
    }
    return true;
}

// Every row of the prefix must be there.
void LaneCheck::check_present(const SpanRecord& span) {
    const std::int64_t size = tables_.block_size();
    for (std::int64_t position = 0; position < end_of(span); position += size) {
        const std::int64_t block = tables_.block(span.sequence, position / size);
        const std::int64_t needed = std::min(size, end_of(span) - position);
        const auto found = rows_.find(block);
        const std::int64_t present = found == rows_.end() ? 0 : found->second;
        if (present < needed) {
            return report_(text("sequence ", span.sequence, ": rows of positions [",
                                position + present, ", ", position + needed,
                                ") were read but are not there: never written, or freed"));
        }
    }
}

// ---- totals -----------------------------------------------------------------------------------

void LaneCheck::expect(const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected) report_(text(what, ": ", found, " on the tape, ", expected, " counted"));
}

void LaneCheck::check_bytes(const Step& step) {
    const std::int64_t row_bytes = shape_.head_dim * bytes_per_element(lane_.kv_cache_dtype);
    std::int64_t written = 0, fetched = 0;
    for (const WriteRun& run : step.writes) written += run.rows();
    for (const ReadRun& run : step.reads) {
        fetched += run.rows_fetched();
        add(totals_.rows_read, run.rows_read());
    }
    expect("kv_bytes written", step.kv_bytes_written, written * row_bytes);
    expect("kv_bytes read", step.kv_bytes_read, fetched * row_bytes);
    add(totals_.rows_written, written);
    add(totals_.rows_fetched, fetched);
    add(totals_.kv_bytes_written, written * row_bytes);
    add(totals_.kv_bytes_read, fetched * row_bytes);

    if (lane_.cache == "none") return;  // holds nothing after the step
    double held = 0;                    // rows, in each layer, KV head and kind
    for (const auto& [block, holders] : holders_) {
        const auto found = rows_.find(block);
        if (found != rows_.end()) held += static_cast<double>(found->second);
    }
    const double bytes = held * static_cast<double>(kv_rows_per_token(shape_) * row_bytes);
    if (static_cast<double>(step.kv_bytes_held) < bytes) {
        report_(text("kv_bytes held: ", step.kv_bytes_held, " on the tape, but the rows it holds ",
                     "take ", bytes));
    }
}

void LaneCheck::check_flops(const Step& step) {
    for (std::size_t i = 0; i < step.flops.of.size(); ++i) {
        add(totals_.flops.of[i], step.flops.of[i]);
    }
    if (estimated_flops(shape_, step) > static_cast<double>(max_count)) {
        return report_("the FLOPs of this step are too many to count");
    }
    std::vector<SpanCost> costs;
    for (const SpanRecord& span : step.spans) {
        costs.push_back(
            {span.first_position, static_cast<std::int64_t>(span.tokens.size()), span.logit_rows});
    }
    const FlopCounts expected = expected_flops(shape_, costs);
    for (int i = 0; i < component_count; ++i) {
        const auto component = static_cast<Component>(i);
        if (step.flops[component] == expected[component]) continue;
        report_(text("flops of ", name(component), ": ", step.flops[component], " on the tape, ",
                     expected[component], " by the closed form"));
    }
}

}  // namespace kvtape
