#include "viewer/event_search.h"

#include "core/number_text.h"

namespace kvtape {
namespace {

bool covers(const WriteRun& run, std::int32_t sequence, const TrackId& track,
            std::int64_t position) {
    return run.sequence == sequence && run.layer == track.layer && run.kv_head == track.kv_head &&
           run.kind == track.kind && position >= run.position_begin && position < run.position_end;
}

bool covers(const ReadRun& run, std::int32_t sequence, const TrackId& track,
            std::int64_t position) {
    return run.sequence == sequence && run.layer == track.layer && run.kv_head == track.kv_head &&
           run.kind == track.kind && position >= run.key_begin && position < run.key_end;
}

// "7", or "0 to 200" for [0, 201).
std::string range(std::int64_t begin, std::int64_t end) {
    if (end - begin == 1) return with_commas(begin);
    return with_commas(begin) + " to " + with_commas(end - 1);
}

std::string one_or_many(const char* one, std::int64_t begin, std::int64_t end) {
    return std::string(one) + (end - begin == 1 ? " " : "s ") + range(begin, end);
}

std::string track_text(std::int32_t layer, std::int32_t kv_head, Kind kind) {
    return "L" + std::to_string(layer) + " h" + std::to_string(kv_head) +
           (kind == Kind::key ? " K" : " V");
}

std::string pool_text(const PoolEvent& event, bool one_sequence) {
    std::string text = name(event.kind);
    if (event.block >= 0) text += " block " + with_commas(event.block);
    if (event.from_block >= 0) text += " from block " + with_commas(event.from_block);
    if (one_sequence && event.block >= 0) return text;
    return text + ", sequence " + std::to_string(event.sequence);
}

}  // namespace

std::optional<std::int64_t> write_event(const LaneHistory& lane, const TrackId& track,
                                        const Cell& cell) {
    if (!cell.filled) return std::nullopt;
    const Step& step = lane.step(cell.written_step);
    const std::int64_t first = lane.first_event(cell.written_step) + std::ssize(step.pool);
    for (std::size_t i = 0; i < step.writes.size(); ++i) {
        // In a shared or copied block the row may be another sequence's.
        if (covers(step.writes[i], cell.sequence, track, cell.position)) {
            return first + static_cast<std::int64_t>(i);
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> read_event(const LaneHistory& lane, std::int64_t step,
                                       std::int32_t sequence, const TrackId& track,
                                       std::int64_t position) {
    const Step& of = lane.step(step);
    const std::int64_t first = lane.first_event(step) + std::ssize(of.pool) + std::ssize(of.writes);
    for (std::size_t i = 0; i < of.reads.size(); ++i) {
        if (covers(of.reads[i], sequence, track, position)) {
            return first + static_cast<std::int64_t>(i);
        }
    }
    return std::nullopt;
}

bool touches(const LaneHistory& lane, const Event& event, std::int32_t sequence,
             const TrackId& track, std::int64_t position) {
    const Step& step = lane.step(event.step);
    const auto index = static_cast<std::size_t>(event.index);
    switch (event.kind) {
        case Event::Kind::write:
            return covers(step.writes[index], sequence, track, position);
        case Event::Kind::read:
            return covers(step.reads[index], sequence, track, position);
        case Event::Kind::pool:
            break;
    }
    return false;
}

std::optional<EventRow> first_row(const LaneHistory& lane, const Event& event) {
    const Step& step = lane.step(event.step);
    const auto index = static_cast<std::size_t>(event.index);
    switch (event.kind) {
        case Event::Kind::write: {
            const WriteRun& run = step.writes[index];
            return EventRow{run.sequence, {run.layer, run.kv_head, run.kind}, run.position_begin};
        }
        case Event::Kind::read: {
            const ReadRun& run = step.reads[index];
            return EventRow{run.sequence, {run.layer, run.kv_head, run.kind}, run.key_begin};
        }
        case Event::Kind::pool:
            break;
    }
    return std::nullopt;
}

EventText event_text(const LaneHistory& lane, const Event& event) {
    const Step& step = lane.step(event.step);
    const auto index = static_cast<std::size_t>(event.index);
    switch (event.kind) {
        case Event::Kind::write: {
            const WriteRun& run = step.writes[index];
            return {"write", track_text(run.layer, run.kv_head, run.kind),
                    range(run.position_begin, run.position_end), with_commas(run.rows()),
                    one_or_many("slot", run.slot_begin, run.slot_begin + run.rows())};
        }
        case Event::Kind::read: {
            const ReadRun& run = step.reads[index];
            return {"read", track_text(run.layer, run.kv_head, run.kind),
                    range(run.key_begin, run.key_end), with_commas(run.rows_fetched()),
                    (run.query_end - run.query_begin == 1 ? "query " : "queries ") +
                        range(run.query_begin, run.query_end) + ", " +
                        one_or_many("head", run.head_begin, run.head_end) +
                        (run.causal ? ", causal" : "")};
        }
        case Event::Kind::pool:
            break;
    }
    return {"pool", "", "", "", pool_text(step.pool[index], lane.sequences().size() == 1)};
}

}  // namespace kvtape
