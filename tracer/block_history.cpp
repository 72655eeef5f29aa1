#include "tracer/block_history.h"

#include <algorithm>

namespace kvtape {
namespace {

// The one of `ids` that was there at `step`, or null; they follow one another in time.
template <class Item>
const Item* at_step(const std::vector<Item>& items, const std::vector<std::size_t>& ids,
                    std::int64_t step) {
    const auto after =
        std::upper_bound(ids.begin(), ids.end(), step,
                         [&](std::int64_t s, std::size_t id) { return s < items[id].from; });
    if (after == ids.begin()) return nullptr;
    const Item& item = items[*(after - 1)];
    return step < item.to ? &item : nullptr;
}

}  // namespace

void BlockHistory::follow(const BlockChanges& changes, std::int64_t step) {
    using What = BlockChange::What;
    for (const BlockChange& change : changes) {
        const Entry entry(change.sequence, change.index);
        switch (change.what) {
            case What::hold_begins:
                begin_hold(entry, open_life(change.block, false, step), step);
                break;
            case What::revived:
                begin_hold(entry, open_life(change.block, true, step), step);
                break;
            case What::hold_ends:
                end_hold(holds_of_entry_.at(entry).back(), step);
                break;
            case What::rows_saved:
                saved_.insert_or_assign(entry,
                                        Origin{lives_of_block_.at(change.block).back(), step - 1});
                break;
            case What::rows_restored:
                fill_from(saved_.at(entry), change.block, step);
                break;
        }
    }
}

// The present life of a block, or a new one if nobody holds it.
std::size_t BlockHistory::open_life(std::int64_t block, bool revived, std::int64_t step) {
    std::vector<std::size_t>& ids = lives_of_block_[block];
    if (!ids.empty() && lives_[ids.back()].to == never) return ids.back();
    Life life{block, step};
    if (revived && !ids.empty()) life.origin = Origin{ids.back(), step - 1};
    lives_.push_back(life);
    ids.push_back(lives_.size() - 1);
    return ids.back();
}

void BlockHistory::begin_hold(Entry entry, std::size_t life, std::int64_t step) {
    holds_.push_back({entry.first, entry.second, life, step, never});
    holds_of_entry_[entry].push_back(holds_.size() - 1);
    lives_[life].holds.push_back(holds_.size() - 1);
    ++lives_[life].open_holds;
}

void BlockHistory::end_hold(std::size_t hold, std::int64_t step) {
    holds_[hold].to = step;
    Life& life = lives_[holds_[hold].life];
    if (--life.open_holds == 0) life.to = step;
}

// All rows of the block are replaced: its holders begin a new life with it. An origin is always an
// older life, so that who follows origins comes to an end, whatever the tape says.
void BlockHistory::fill_from(Origin origin, std::int64_t block, std::int64_t step) {
    const std::size_t old = lives_of_block_.at(block).back();
    const bool is_fresh = lives_[old].from == step && !lives_[old].origin;  // nothing written yet
    if (is_fresh && origin.life < old) {
        lives_[old].origin = origin;
        return;
    }
    std::vector<Entry> holders;
    for (const std::size_t hold : lives_[old].holds) {
        if (holds_[hold].to != never) continue;
        holders.emplace_back(holds_[hold].sequence, holds_[hold].index);
        end_hold(hold, step);
    }
    const std::size_t life = open_life(block, false, step);
    lives_[life].origin = origin;
    for (const Entry& holder : holders) begin_hold(holder, life, step);
}

const BlockHistory::Life* BlockHistory::life_at(std::int64_t step, std::int64_t block) const {
    const auto found = lives_of_block_.find(block);
    return found == lives_of_block_.end() ? nullptr : at_step(lives_, found->second, step);
}

const BlockHistory::Hold* BlockHistory::hold_at(std::int64_t step, std::int32_t sequence,
                                                std::int64_t index) const {
    const auto found = holds_of_entry_.find({sequence, index});
    return found == holds_of_entry_.end() ? nullptr : at_step(holds_, found->second, step);
}

std::vector<const BlockHistory::Life*> BlockHistory::lives_at(std::int64_t step) const {
    std::vector<const Life*> lives;
    for (const auto& [block, ids] : lives_of_block_) {
        if (const Life* life = at_step(lives_, ids, step)) lives.push_back(life);
    }
    return lives;
}

std::vector<std::int32_t> BlockHistory::sequences_at(std::int64_t step) const {
    std::vector<std::int32_t> sequences;
    for (const auto& [entry, ids] : holds_of_entry_) {
        const bool listed = !sequences.empty() && sequences.back() == entry.first;
        if (!listed && at_step(holds_, ids, step) != nullptr) sequences.push_back(entry.first);
    }
    return sequences;
}

std::map<std::int64_t, std::int64_t> BlockHistory::table_at(std::int64_t step,
                                                            std::int32_t sequence) const {
    std::map<std::int64_t, std::int64_t> table;
    auto entry = holds_of_entry_.lower_bound({sequence, 0});
    for (; entry != holds_of_entry_.end() && entry->first.first == sequence; ++entry) {
        const Hold* hold = at_step(holds_, entry->second, step);
        if (hold != nullptr) table[hold->index] = lives_[hold->life].block;
    }
    return table;
}

}  // namespace kvtape
