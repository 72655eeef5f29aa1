#include "viewer/lane_history.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "tracer/cost_model.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

Costs costs_of(const Step& step, const ModelShape& shape, KvDtype dtype) {
    Costs costs;
    costs.flops = step.flops;
    std::vector<SpanCost> spans;
    for (const SpanRecord& span : step.spans) {
        spans.push_back({span.first_position, std::ssize(span.tokens), span.logit_rows});
        const std::int64_t row_bytes = shape.head_dim * bytes_per_element(dtype);
        costs.closed_form_bytes_written +=
            kv_bytes_per_token(shape, dtype) * std::ssize(span.tokens);
        costs.closed_form_bytes_read += kv_rows_fetched(shape, spans.back()) * row_bytes;
    }
    costs.closed_form = expected_flops(shape, spans);
    for (const WriteRun& run : step.writes) costs.rows_written += run.rows();
    for (const ReadRun& run : step.reads) {
        costs.rows_read += run.rows_read();
        costs.rows_fetched += run.rows_fetched();
    }
    costs.kv_bytes_written = step.kv_bytes_written;
    costs.kv_bytes_read = step.kv_bytes_read;
    costs.wall_ns = step.wall_ns;
    return costs;
}

// Control characters have no picture; a line end becomes the sign for it.
std::string drawable(const std::string& bytes) {
    std::string text;
    for (const char c : printable(bytes)) {
        if (c == '\n') {
            text += "\xe2\x86\xb5";  // U+21B5
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            text += "\xef\xbf\xbd";  // U+FFFD
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace

Costs& Costs::operator+=(const Costs& other) {
    flops += other.flops;
    closed_form += other.closed_form;
    rows_written += other.rows_written;
    rows_read += other.rows_read;
    rows_fetched += other.rows_fetched;
    kv_bytes_written += other.kv_bytes_written;
    kv_bytes_read += other.kv_bytes_read;
    closed_form_bytes_written += other.closed_form_bytes_written;
    closed_form_bytes_read += other.closed_form_bytes_read;
    wall_ns += other.wall_ns;
    return *this;
}

LaneHistory::LaneHistory(const TapeHeader& header, std::int32_t lane)
    : header_(header), lane_(lane), playback_(header, lane) {}

void LaneHistory::add(Step step) {
    if (step.lane != lane_) return;
    for (const SpanRecord& span : step.spans) {
        const std::int64_t end = span.first_position + std::ssize(span.tokens);
        if (end > most_positions) {
            fail("step ", steps(), " of lane '", lane().name, "' has position ", end - 1,
                 "; the viewer shows at most ", most_positions, " positions of a sequence");
        }
    }
    playback_.add(step);
    for (const SpanRecord& span : step.spans) {
        if (!texts_.contains(span.sequence)) sequences_.push_back(span.sequence);
        std::vector<std::string>& texts = texts_[span.sequence];
        const std::int64_t end = span.first_position + std::ssize(span.tokens);
        if (std::ssize(texts) < end) texts.resize(static_cast<std::size_t>(end));
        for (std::size_t i = 0; i < span.tokens.size(); ++i) {
            const TokenText& token = span.tokens[i];
            std::string& text = texts[static_cast<std::size_t>(span.first_position) + i];
            if (!text.empty()) continue;
            text = token.bytes.empty() ? std::to_string(token.id) : drawable(token.bytes);
        }
    }
    costs_.push_back(costs_of(step, header_.shape, lane().kv_cache_dtype));
    sums_.push_back(sums_.empty() ? Costs{} : sums_.back());
    sums_.back() += costs_.back();
    event_end_.push_back(events() + std::ssize(step.pool) + std::ssize(step.writes) +
                         std::ssize(step.reads));
    const std::int64_t row_bytes =
        header_.shape.head_dim * bytes_per_element(lane().kv_cache_dtype);
    for (std::size_t i = 0; i < step.rows.size(); ++i) {
        const StoredRows& rows = step.rows[i];
        listed_[{rows.sequence, rows.layer, rows.kv_head, rows.kind}].push_back(
            {steps(), rows.position_begin, rows.position_begin + std::ssize(rows.codes) / row_bytes,
             i});
    }
    steps_.push_back(std::move(step));
}

std::int64_t LaneHistory::longest(std::int32_t sequence) const {
    const auto found = texts_.find(sequence);
    return found == texts_.end() ? 0 : std::ssize(found->second);
}

const std::string& LaneHistory::text(std::int32_t sequence, std::int64_t position) const {
    static const std::string none;
    const auto found = texts_.find(sequence);
    if (found == texts_.end() || position < 0 || position >= std::ssize(found->second)) return none;
    return found->second[static_cast<std::size_t>(position)];
}

const SpanRecord* LaneHistory::span(std::int64_t step, std::int32_t sequence) const {
    for (const SpanRecord& span : this->step(step).spans) {
        if (span.sequence == sequence) return &span;
    }
    return nullptr;
}

const StoredRows* LaneHistory::listed_row(std::int64_t step, std::int32_t sequence,
                                          std::int32_t layer, std::int32_t kv_head, Kind kind,
                                          std::int64_t position) const {
    const auto found = listed_.find({sequence, layer, kv_head, kind});
    if (found == listed_.end()) return nullptr;
    for (auto listing = found->second.rbegin(); listing != found->second.rend(); ++listing) {
        if (listing->step > step) continue;
        if (position < listing->position_begin || position >= listing->position_end) continue;
        return &this->step(listing->step).rows[listing->index];
    }
    return nullptr;
}

// Within a step: pool events, then writes, then reads.
Event LaneHistory::event(std::int64_t number) const {
    KVTAPE_CHECK(number, <, events());
    const auto end = std::upper_bound(event_end_.begin(), event_end_.end(), number);
    const std::int64_t step = end - event_end_.begin();
    std::int64_t index = number - first_event(step);
    const Step& of = this->step(step);
    if (index < std::ssize(of.pool)) return {step, Event::Kind::pool, index};
    index -= std::ssize(of.pool);
    if (index < std::ssize(of.writes)) return {step, Event::Kind::write, index};
    return {step, Event::Kind::read, index - std::ssize(of.writes)};
}

std::int64_t LaneHistory::first_event(std::int64_t step) const {
    return step == 0 ? 0 : event_end_[static_cast<std::size_t>(step - 1)];
}

}  // namespace kvtape
