#include "tracer/playback.h"

#include <algorithm>

#include "core/check.h"
#include "core/fnv1a.h"
#include "tracer/step_check.h"

namespace kvtape {

Playback::Playback(const TapeHeader& header, std::int32_t lane, std::int64_t most_stretches)
    : header_(header),
      lane_(lane),
      most_stretches_(most_stretches),
      tables_(header.lanes.at(static_cast<std::size_t>(lane))) {}

void Playback::add(const Step& step) {
    if (step.lane != lane_) return;
    validate(step, header_);
    const std::int64_t now = steps();
    KVTAPE_CHECK(step.index, ==, now);
    const Lane& lane = header_.lanes[static_cast<std::size_t>(lane_)];
    const std::int64_t runs = std::ssize(step.writes) + std::ssize(step.reads);
    if (runs > most_stretches_ - stretches_) {
        fail("lane '", lane.name, "', step ", now, ": its ", runs, " runs, beside ", stretches_,
             " stretches of the steps before it, may exceed the ", most_stretches_,
             " that can be played back; record fewer sequences or steps");
    }
    phases_.push_back(step.phase);

    if (lane.cache == "none") history_.follow(tables_.forget_all(), now);
    for (const PoolEvent& event : step.pool) {
        if (!after_pass(event, step)) history_.follow(tables_.apply(event), now);
    }
    add_accesses(step, now);
    for (const PoolEvent& event : step.pool) {
        if (after_pass(event, step)) history_.follow(tables_.apply(event), now + 1);
    }
}

void Playback::add_accesses(const Step& step, std::int64_t now) {
    const auto add = [&](const auto& run) {
        Track& track = tracks_[{run.sequence, {run.layer, run.kv_head, run.kind}}];
        if (track.add(now, run)) ++stretches_;
    };
    const WriteRun* first = nullptr;  // of the sequence: its track tells where the rows lie
    for (const WriteRun& run : step.writes) {
        if (first == nullptr || first->sequence != run.sequence) first = &run;
        if (same_track(run, *first)) history_.follow(tables_.note(run), now);
        // The block table keeps the slots of a paged lane. Without them, the runs of a track go on
        // from block to block.
        WriteRun kept = run;
        if (tables_.paged()) kept.slot_begin = run.position_begin;
        add(kept);
    }
    for (const ReadRun& run : step.reads) add(run);
}

const Track* Playback::track(std::int32_t sequence, Where where) const {
    const auto found = tracks_.find({sequence, where});
    return found == tracks_.end() ? nullptr : &found->second;
}

// Calls `visit(hold, stretch, begin, end)` for what was written into a block during one life, up to
// `last_step`: the stretch wrote positions [begin, end), and they lie in the block.
template <class Visit>
void Playback::for_each_write(const Life& life, std::int64_t last_step, Where where,
                              const Visit& visit) const {
    const std::int64_t size = tables_.block_size();
    for (const std::size_t id : life.holds) {
        const Hold& hold = history_.hold(id);
        const Track* rows = track(hold.sequence, where);
        const std::int64_t last = std::min(last_step, hold.to - 1);
        if (rows == nullptr || last < hold.from) continue;
        const std::int64_t first_position = hold.index * size;
        rows->for_each_write(hold.from, last, [&](const WriteStretch& stretch) {
            const std::int64_t begin = std::max(stretch.begin_in(hold.from), first_position);
            const std::int64_t end = std::min(stretch.end_in(last), first_position + size);
            if (begin < end) visit(hold, stretch, begin, end);
        });
    }
}

// Fills `out` with the rows at `offset`, offset + 1, ... of a block as they were at `step`. Rows
// that were not written in this life are taken from where its rows came from, and so on.
void Playback::paint(const Life& life, std::int64_t step, Where where, std::int64_t offset,
                     std::span<Cell> out) const {
    const std::int64_t size = tables_.block_size();
    const auto offset_end = offset + static_cast<std::int64_t>(out.size());
    std::int64_t last_step = step;
    std::vector<bool> done(out.size(), false);
    for (const Life* from = &life;;) {
        for_each_write(*from, last_step, where,
                       [&](const Hold& hold, const WriteStretch& stretch, std::int64_t begin,
                           std::int64_t end) {
                           const std::int64_t base = hold.index * size;
                           begin = std::max(begin, base + offset);
                           end = std::min(end, base + offset_end);
                           for (std::int64_t position = begin; position < end; ++position) {
                               const auto i = static_cast<std::size_t>(position - base - offset);
                               const std::int64_t written = stretch.step_of(position);
                               Cell& cell = out[i];
                               if (done[i] || (cell.filled && cell.written_step > written))
                                   continue;
                               cell.filled = true;
                               cell.sequence = hold.sequence;
                               cell.position = position;
                               cell.slot = tables_.paged() ? life.block * size + position - base
                                                           : stretch.slot_of(position);
                               cell.written_step = written;
                               cell.written_phase = phase(written);
                               cell.written_now = written == step;
                           }
                       });
        if (!from->origin) return;
        for (std::size_t i = 0; i < out.size(); ++i) done[i] = out[i].filled;
        last_step = std::min(last_step, from->origin->step);
        from = &history_.life(from->origin->life);
    }
}

// Adds the reads by one holder of a block to the counts of the rows at `offset`, ...
void Playback::count_reads(const Hold& hold, std::int64_t step, Where where, std::int64_t offset,
                           std::span<Cell> out) const {
    const Track* rows = track(hold.sequence, where);
    if (rows == nullptr) return;
    const std::int64_t last = std::min(step, hold.to - 1);
    const std::int64_t base = hold.index * tables_.block_size() + offset;
    const std::int64_t base_end = base + std::ssize(out);
    rows->for_each_read(hold.from, last, [&](const ReadStretch& stretch) {
        const bool now = last == step && stretch.step_end > step;
        const std::int64_t begin = std::max(base, stretch.key_begin);
        const std::int64_t end = std::min(base_end, stretch.key_end);
        for (std::int64_t position = begin; position < end; ++position) {
            Cell& cell = out[static_cast<std::size_t>(position - base)];
            const std::int64_t first = std::max(cell.written_step, hold.from);
            if (!cell.filled || stretch.step_end <= first) continue;
            const std::int64_t queries = stretch.queries(position, first, last);
            cell.times_fetched += queries;
            cell.times_read += queries * stretch.heads;
            if (now) cell.read_now += stretch.queries(position, step, step) * stretch.heads;
        }
    });
}

void Playback::cells(std::int64_t step, std::int32_t sequence, std::int32_t layer,
                     std::int32_t kv_head, Kind kind, std::int64_t position_begin,
                     std::span<Cell> out) const {
    const Where where{layer, kv_head, kind};
    std::fill(out.begin(), out.end(), Cell{});
    const std::int64_t size = tables_.block_size();
    for (std::size_t done = 0; done < out.size();) {
        const std::int64_t position = position_begin + static_cast<std::int64_t>(done);
        const std::int64_t offset = position % size;
        const auto count = static_cast<std::size_t>(
            std::min(size - offset, static_cast<std::int64_t>(out.size() - done)));
        if (const Hold* hold = history_.hold_at(step, sequence, position / size)) {
            paint(history_.life(hold->life), step, where, offset, out.subspan(done, count));
            count_reads(*hold, step, where, offset, out.subspan(done, count));
        }
        done += count;
    }
}

Cell Playback::cell(std::int64_t step, std::int32_t sequence, std::int32_t layer,
                    std::int32_t kv_head, Kind kind, std::int64_t position) const {
    Cell cell;
    cells(step, sequence, layer, kv_head, kind, position, {&cell, 1});
    return cell;
}

std::uint64_t Playback::fingerprint(std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
                                    Kind kind) const {
    const Track* rows = track(sequence, {layer, kv_head, kind});
    return rows == nullptr ? 0 : rows->fingerprint();
}

void Playback::slots(std::int64_t step, std::int32_t layer, std::int32_t kv_head, Kind kind,
                     std::int64_t slot_begin, std::span<Cell> out) const {
    KVTAPE_CHECK(tables_.paged(), ==, true);
    const Where where{layer, kv_head, kind};
    std::fill(out.begin(), out.end(), Cell{});
    const std::int64_t size = tables_.block_size();
    for (std::size_t done = 0; done < out.size();) {
        const std::int64_t slot = slot_begin + static_cast<std::int64_t>(done);
        const std::int64_t offset = slot % size;
        const auto count = static_cast<std::size_t>(
            std::min(size - offset, static_cast<std::int64_t>(out.size() - done)));
        if (const Life* life = history_.life_at(step, slot / size)) {
            paint(*life, step, where, offset, out.subspan(done, count));
            for (const std::size_t hold : life->holds) {
                count_reads(history_.hold(hold), step, where, offset, out.subspan(done, count));
            }
        }
        done += count;
    }
}

std::map<std::int64_t, std::int64_t> Playback::block_table(std::int64_t step,
                                                           std::int32_t sequence) const {
    KVTAPE_CHECK(tables_.paged(), ==, true);
    return history_.table_at(step, sequence);
}

std::vector<std::int32_t> Playback::holders(std::int64_t step, std::int64_t block) const {
    KVTAPE_CHECK(tables_.paged(), ==, true);
    std::vector<std::int32_t> sequences;
    const Life* life = history_.life_at(step, block);
    if (life == nullptr) return sequences;
    for (const std::size_t id : life->holds) {
        const Hold& hold = history_.hold(id);
        if (hold.from <= step && step < hold.to) sequences.push_back(hold.sequence);
    }
    std::sort(sequences.begin(), sequences.end());
    return sequences;
}

std::vector<std::int32_t> Playback::sequences(std::int64_t step) const {
    return history_.sequences_at(step);
}

// Rows of one block in one layer, KV head and kind.
std::int64_t Playback::rows_in(const Life& life, std::int64_t step, Where where) const {
    struct Range {
        std::int64_t begin, end;
    };
    std::vector<Range> written;  // offsets within the block
    std::int64_t last_step = step;
    for (const Life* from = &life;;) {
        for_each_write(
            *from, last_step, where,
            [&](const Hold& hold, const WriteStretch&, std::int64_t begin, std::int64_t end) {
                const std::int64_t base = hold.index * tables_.block_size();
                written.push_back({begin - base, end - base});
            });
        if (!from->origin) break;
        last_step = std::min(last_step, from->origin->step);
        from = &history_.life(from->origin->life);
    }
    std::sort(written.begin(), written.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::int64_t rows = 0, covered = 0;  // offsets below `covered` are counted
    for (const Range& range : written) {
        rows += std::max<std::int64_t>(range.end - std::max(range.begin, covered), 0);
        covered = std::max(covered, range.end);
    }
    return rows;
}

// Layers, heads and kinds that have the same history in every sequence, as nearly all do, hold
// equally many rows: one of them is counted for all.
std::int64_t Playback::rows_in_cache(std::int64_t step) const {
    std::map<Where, std::uint64_t> histories;
    for (const auto& [name, track] : tracks_) {
        const std::uint64_t numbers[] = {static_cast<std::uint64_t>(name.first),
                                         track.fingerprint()};
        const auto history = histories.try_emplace(name.second, fnv1a_start).first;
        history->second = fnv1a(numbers, sizeof(numbers), history->second);
    }
    std::map<std::uint64_t, std::vector<Where>> alike;
    for (const auto& [where, history] : histories) alike[history].push_back(where);

    std::int64_t rows = 0;
    for (const Life* life : history_.lives_at(step)) {
        for (const auto& [history, tracks] : alike) {
            rows += std::ssize(tracks) * rows_in(*life, step, tracks.front());
        }
    }
    return rows;
}

Playback load_playback(TapeReader& reader, std::int32_t lane) {
    Playback playback(reader.header(), lane);
    Step step;
    while (reader.next(step) == TapeReader::Next::step) playback.add(step);
    return playback;
}

}  // namespace kvtape
