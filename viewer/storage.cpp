#include "viewer/storage.h"

#include <algorithm>
#include <utility>

#include "tracer/cost_model.h"

namespace kvtape {
namespace {

std::int64_t longest_of_all(const LaneHistory& lane) {
    std::int64_t longest = 0;
    for (const std::int32_t s : lane.sequences()) longest = std::max(longest, lane.longest(s));
    return longest;
}

void add_blocks(const LaneHistory& lane, std::int64_t step, Storage& storage) {
    storage.units_in_all = lane.lane().blocks;
    storage.slots_of_unit = lane.lane().block_size;
    const std::int64_t longest = longest_of_all(lane);
    std::vector<Unit> entries;
    for (const std::int32_t sequence : lane.playback().sequences(step)) {
        std::int64_t last = -1;
        for (const auto& [index, block] : lane.playback().block_table(step, sequence)) {
            entries.push_back({block, sequence, index, 1});
            last = index;
        }
        storage.holders.push_back(
            {sequence, std::min((last + 1) * storage.slots_of_unit, longest)});
    }
    // Sequences ascend, so of the holders of a block the first stays first.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Unit& a, const Unit& b) { return a.number < b.number; });
    for (const Unit& entry : entries) {
        if (!storage.units.empty() && storage.units.back().number == entry.number) {
            ++storage.units.back().holders;
        } else {
            storage.units.push_back(entry);
        }
    }
}

void add_sequences(const LaneHistory& lane, std::int64_t step, Storage& storage) {
    const std::int64_t limit = lane.header().max_model_len;
    storage.slots_of_unit = limit > 0 ? limit : longest_of_all(lane);
    for (const std::int32_t sequence : lane.playback().sequences(step)) {
        storage.units.push_back({std::ssize(storage.units), sequence, 0, 1});
        storage.holders.push_back({sequence, lane.longest(sequence)});
    }
    storage.units_in_all = storage.held();
}

std::vector<Cell> cells_of(const LaneHistory& lane, std::int64_t step,
                           const Storage::Holder& holder, TrackId track) {
    std::vector<Cell> cells(static_cast<std::size_t>(holder.positions));
    lane.playback().cells(step, holder.sequence, track.layer, track.kv_head, track.kind, 0, cells);
    return cells;
}

// Cells that hold a row, in the units that the holder counts for.
std::int64_t count_filled(const std::vector<Cell>& cells, const std::vector<const Unit*>& units,
                          std::int64_t slots_of_unit) {
    std::int64_t filled = 0;
    for (const Unit* unit : units) {
        const std::int64_t begin = unit->index * slots_of_unit;
        const std::int64_t end = std::min(begin + slots_of_unit, std::ssize(cells));
        for (std::int64_t i = begin; i < end; ++i) {
            filled += cells[static_cast<std::size_t>(i)].filled ? 1 : 0;
        }
    }
    return filled;
}

// Looks at one track of each history: the others are alike, and are counted by multiplying.
void look_into(const LaneHistory& lane, std::int64_t step, TrackId track, Storage& storage) {
    std::map<std::int32_t, std::vector<const Unit*>> units;  // by the first holder
    for (const Unit& unit : storage.units) units[unit.sequence].push_back(&unit);
    for (const Storage::Holder& holder : storage.holders) {
        const auto history = [&](TrackId id) {
            return lane.playback().fingerprint(holder.sequence, id.layer, id.kv_head, id.kind);
        };
        struct Alike {
            TrackId track;
            std::int64_t tracks = 0;
        };
        std::map<std::uint64_t, Alike> histories;
        for (std::int64_t number = 0; number < track_count(lane.shape()); ++number) {
            const TrackId id = track_id(lane.shape(), number);
            Alike& alike = histories[history(id)];
            if (alike.tracks++ == 0) alike.track = id;
        }
        for (const auto& [which, alike] : histories) {
            std::vector<Cell> cells = cells_of(lane, step, holder, alike.track);
            storage.rows_held +=
                alike.tracks * count_filled(cells, units[holder.sequence], storage.slots_of_unit);
            if (which == history(track)) storage.cells[holder.sequence] = std::move(cells);
        }
    }
}

}  // namespace

const Unit* Storage::unit(std::int64_t number) const {
    const auto found = std::lower_bound(
        units.begin(), units.end(), number,
        [](const Unit& unit, std::int64_t wanted) { return unit.number < wanted; });
    return found == units.end() || found->number != number ? nullptr : &*found;
}

std::int64_t Storage::shared() const {
    return std::count_if(units.begin(), units.end(),
                         [](const Unit& unit) { return unit.holders > 1; });
}

Storage storage_at(const LaneHistory& lane, std::int64_t step, TrackId track) {
    Storage storage;
    storage.rows_of_slot = kv_rows_per_token(lane.shape());
    storage.paged = lane.lane().cache == "paged";
    if (storage.paged) add_blocks(lane, step, storage);
    if (lane.lane().cache == "contiguous") add_sequences(lane, step, storage);
    look_into(lane, step, track, storage);
    return storage;
}

}  // namespace kvtape
