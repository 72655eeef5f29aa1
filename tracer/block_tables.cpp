#include "tracer/block_tables.h"

#include <algorithm>

#include "tracer/tape_limits.h"

namespace kvtape {

using What = BlockChange::What;

bool after_pass(const PoolEvent& event, const Step& step) {
    return event.kind == PoolEventKind::free &&
           std::any_of(step.spans.begin(), step.spans.end(),
                       [&](const SpanRecord& span) { return span.sequence == event.sequence; });
}

bool same_track(const WriteRun& a, const WriteRun& b) {
    return a.sequence == b.sequence && a.layer == b.layer && a.kv_head == b.kv_head &&
           a.kind == b.kind;
}

BlockTables::BlockTables(const Lane& lane)
    : paged_(lane.cache == "paged"), block_size_(paged_ ? lane.block_size : max_slot) {}

std::int64_t BlockTables::block(std::int32_t sequence, std::int64_t index) const {
    const auto table = tables_.find(sequence);
    if (table == tables_.end()) return -1;
    const auto entry = table->second.find(index);
    return entry == table->second.end() ? -1 : entry->second;
}

std::int64_t BlockTables::holders(std::int64_t block) const {
    const auto found = holders_.find(block);
    return found == holders_.end() ? 0 : static_cast<std::int64_t>(found->second.size());
}

// The index at which the sequence holds the block, or -1.
std::int64_t BlockTables::index_of(std::int32_t sequence, std::int64_t block) const {
    const auto found = holders_.find(block);
    if (found == holders_.end()) return -1;
    const auto holder = found->second.find(sequence);
    return holder == found->second.end() ? -1 : holder->second;
}

bool BlockTables::others_hold(std::int64_t block, std::int32_t sequence) const {
    return holders(block) > (index_of(sequence, block) >= 0 ? 1 : 0);
}

void BlockTables::hold(std::int32_t sequence, std::int64_t index, std::int64_t block, What what,
                       BlockChanges& changes) {
    tables_[sequence][index] = block;
    holders_[block][sequence] = index;
    changes.push_back({what, sequence, index, block});
}

void BlockTables::drop(std::int32_t sequence, std::int64_t index, BlockChanges& changes) {
    const std::int64_t block = this->block(sequence, index);
    if (block < 0) return;
    changes.push_back({What::hold_ends, sequence, index, block});

    const auto table = tables_.find(sequence);
    table->second.erase(index);
    if (table->second.empty()) tables_.erase(table);
    const auto holders = holders_.find(block);
    holders->second.erase(sequence);
    if (holders->second.empty()) holders_.erase(holders);
}

void BlockTables::drop_all(std::int32_t sequence, BlockChanges& changes) {
    for (auto table = tables_.find(sequence); table != tables_.end();
         table = tables_.find(sequence)) {
        drop(sequence, table->second.begin()->first, changes);
    }
}

BlockChanges BlockTables::forget_all() {
    BlockChanges changes;
    while (!tables_.empty()) drop_all(tables_.begin()->first, changes);
    return changes;
}

void BlockTables::append(const PoolEvent& event, What what, BlockChanges& changes) {
    if (event.block < 0 || index_of(event.sequence, event.block) >= 0) return;
    const auto table = tables_.find(event.sequence);
    const std::int64_t index = table == tables_.end() ? 0 : table->second.rbegin()->first + 1;
    hold(event.sequence, index, event.block, what, changes);
}

// The sequence gets a block of its own, which no other holds, in place of one that it shares.
void BlockTables::copy_on_write(const PoolEvent& event, BlockChanges& changes) {
    if (event.block < 0 || event.from_block < 0 || event.block == event.from_block) return;
    const std::int64_t index = index_of(event.sequence, event.from_block);
    if (index < 0 || others_hold(event.block, event.sequence)) return;
    drop(event.sequence, index_of(event.sequence, event.block), changes);  // if just allocated
    changes.push_back({What::rows_saved, event.sequence, index, event.from_block});
    drop(event.sequence, index, changes);
    hold(event.sequence, index, event.block, What::hold_begins, changes);
    changes.push_back({What::rows_restored, event.sequence, index, event.block});
}

void BlockTables::swap_out(const PoolEvent& event, BlockChanges& changes) {
    const auto table = tables_.find(event.sequence);
    if (table == tables_.end()) return;
    std::vector<std::int64_t>& indices = swapped_out_[event.sequence];
    for (const auto& [index, block] : Table(table->second)) {
        if (event.block >= 0 && block != event.block) continue;
        changes.push_back({What::rows_saved, event.sequence, index, block});
        drop(event.sequence, index, changes);
        indices.push_back(index);
    }
}

// Rows come back in the order of their positions: all of them into the blocks that were allocated
// for the sequence before, or those of the first missing block into event.block. They never replace
// the rows of others.
void BlockTables::swap_in(const PoolEvent& event, BlockChanges& changes) {
    const auto saved = swapped_out_.find(event.sequence);
    if (saved == swapped_out_.end()) return;
    if (event.block >= 0) append(event, What::hold_begins, changes);
    std::vector<std::int64_t> indices;
    indices.swap(saved->second);
    for (const std::int64_t index : indices) {
        const std::int64_t block = this->block(event.sequence, index);
        const bool returns = block >= 0 && (event.block < 0 || event.block == block) &&
                             !others_hold(block, event.sequence);
        if (returns) {
            changes.push_back({What::rows_restored, event.sequence, index, block});
        } else {
            saved->second.push_back(index);
        }
    }
    if (saved->second.empty()) swapped_out_.erase(saved);
}

BlockChanges BlockTables::apply(const PoolEvent& event) {
    BlockChanges changes;
    switch (event.kind) {
        case PoolEventKind::allocate:
            append(event, What::hold_begins, changes);
            break;
        case PoolEventKind::share:
            append(event, holders(event.block) > 0 ? What::hold_begins : What::revived, changes);
            break;
        case PoolEventKind::copy_on_write:
            copy_on_write(event, changes);
            break;
        case PoolEventKind::free:
            if (event.block >= 0) {
                drop(event.sequence, index_of(event.sequence, event.block), changes);
            } else {
                drop_all(event.sequence, changes);
            }
            break;
        case PoolEventKind::preempt:
            drop_all(event.sequence, changes);
            break;
        case PoolEventKind::swap_out:
            swap_out(event, changes);
            break;
        case PoolEventKind::swap_in:
            swap_in(event, changes);
            break;
        case PoolEventKind::free_refused:
        case PoolEventKind::resume:
            break;
    }
    return changes;
}

BlockChanges BlockTables::note(const WriteRun& run) {
    BlockChanges changes;
    if (!paged_) {
        if (block(run.sequence, 0) < 0) {
            hold(run.sequence, 0, run.sequence, What::hold_begins, changes);
        }
        return changes;
    }
    for (std::int64_t position = run.position_begin; position < run.position_end;) {
        const std::int64_t index = position / block_size_;
        const std::int64_t slot = run.slot_begin + (position - run.position_begin);
        const std::int64_t written = slot / block_size_;
        if (block(run.sequence, index) != written) {
            drop(run.sequence, index, changes);
            drop(run.sequence, index_of(run.sequence, written), changes);
            hold(run.sequence, index, written, What::hold_begins, changes);
        }
        position = (index + 1) * block_size_;
    }
    return changes;
}

}  // namespace kvtape
