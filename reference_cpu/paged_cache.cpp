#include "reference_cpu/paged_cache.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/check.h"

namespace kvtape {
namespace {

PagedLayout checked_layout(const ModelShape& shape, std::int64_t block_size, std::int64_t blocks) {
    if (block_size < 1)
        fail("paged cache: block size ", block_size, "; use 1 or more (vLLM uses 16)");
    if (blocks < 1) fail("paged cache: a pool of ", blocks, " blocks; use 1 or more");
    const PagedLayout layout{shape.layers, blocks, shape.kv_heads, block_size, shape.head_dim};
    // The product in double, because an absurd one wraps around in 64 bits.
    const double elements =
        static_cast<double>(layout.layers) * static_cast<double>(layout.blocks) *
        static_cast<double>(layout.kv_heads) * static_cast<double>(layout.block_size) *
        static_cast<double>(layout.head_dim);
    if (elements > 0x1p59) {
        fail("paged cache: a pool of ", blocks, " blocks of ", block_size, " positions has ",
             elements, " numbers of K and as many of V; use fewer or smaller blocks");
    }
    return layout;
}

}  // namespace

PagedCache::PagedCache(const ModelShape& shape, KvDtype dtype, std::int64_t block_size,
                       std::int64_t blocks, float scale)
    : KvCache(shape, dtype, scale),
      layout_(checked_layout(shape, block_size, blocks)),
      storage_(layout_.elements(), dtype),
      pool_(blocks) {}

Lane PagedCache::lane() const {
    return {"paged", "cpu", "paged", dtype(), layout_.block_size, layout_.blocks, scale()};
}

std::int64_t PagedCache::length(SequenceId sequence) const {
    const auto found = tables_.find(sequence);
    return found == tables_.end() ? 0 : found->second.length;
}

PagedCache::Growth PagedCache::growth(SequenceId sequence, std::int64_t end) const {
    const std::int64_t needed = (end + layout_.block_size - 1) / layout_.block_size;
    const auto found = tables_.find(sequence);
    if (found == tables_.end()) return {needed, std::nullopt};
    const auto& [blocks, length] = found->second;
    const std::int64_t held = std::ssize(blocks);
    Growth result{std::max<std::int64_t>(needed - held, 0), std::nullopt};
    if (end > length && length < held * layout_.block_size) {
        const auto writes_into = static_cast<std::size_t>(length / layout_.block_size);
        if (pool_.references(blocks[writes_into]) > 1) result.copied_entry = writes_into;
    }
    return result;
}

std::int64_t PagedCache::blocks_needed(std::span<const Reservation> wanted) const {
    std::int64_t needed = 0;
    std::map<std::int64_t, std::int64_t> writers;  // of each shared block
    for (const auto& [sequence, end] : wanted) {
        const auto [new_blocks, copied_entry] = growth(sequence, end);
        needed += new_blocks;
        if (!copied_entry) continue;
        // When all owners write, the last one of them is alone by then and needs no copy.
        const std::int64_t shared = block_table(sequence)[*copied_entry];
        if (++writers[shared] < pool_.references(shared)) ++needed;
    }
    return needed;
}

void PagedCache::check_room(std::span<const Reservation> wanted) const {
    const std::int64_t needed = blocks_needed(wanted);
    if (needed <= pool_.free_blocks()) return;
    std::int64_t tokens = 0;
    for (const Reservation& one : wanted) tokens += one.end;
    const std::string who = wanted.size() == 1
                                ? "sequence " + std::to_string(wanted[0].sequence) + " needs "
                                : std::to_string(wanted.size()) + " sequences together need ";
    fail("paged cache: ", who, needed, " more blocks for ", tokens, " tokens, ",
         pool_.free_blocks(), " of ", pool_.blocks(), " are free (",
         pool_.free_blocks() * layout_.block_size,
         " tokens); use a larger pool or fewer sequences");
}

void PagedCache::reserve(SequenceId sequence, std::int64_t end) {
    const Reservation wanted[] = {{sequence, end}};
    check_room(wanted);
    const auto [new_blocks, copied_entry] = growth(sequence, end);
    std::vector<std::int64_t>& blocks = tables_[sequence].blocks;
    if (copied_entry) {
        const std::int64_t shared = blocks[*copied_entry];
        blocks[*copied_entry] = pool_.replace_shared(shared, sequence);
        copy_block(shared, blocks[*copied_entry]);
    }
    for (std::int64_t i = 0; i < new_blocks; ++i) blocks.push_back(pool_.allocate(sequence));
}

void PagedCache::commit(SequenceId sequence, std::int64_t end) {
    table(sequence).length = end;
}

void PagedCache::release(SequenceId sequence) {
    const auto found = tables_.find(sequence);
    if (found == tables_.end()) return;
    for (const std::int64_t block : found->second.blocks) pool_.free(block, sequence);
    tables_.erase(found);
}

void PagedCache::fork(SequenceId source, SequenceId target) {
    if (tables_.contains(target)) fail("fork: sequence ", target, " already exists");
    Table copy = table(source);
    // Blocks that are reserved but hold no rows stay with the source: nobody copies them on write.
    copy.blocks.resize(
        static_cast<std::size_t>((copy.length + layout_.block_size - 1) / layout_.block_size));
    for (const std::int64_t block : copy.blocks) pool_.share(block, target);
    tables_[target] = copy;
}

std::int64_t PagedCache::bytes_held() const {
    const std::int64_t used = pool_.blocks() - pool_.free_blocks();
    return storage_.bytes() / pool_.blocks() * used;
}

std::span<const std::int64_t> PagedCache::block_table(SequenceId sequence) const {
    const auto found = tables_.find(sequence);
    if (found == tables_.end()) return {};
    return found->second.blocks;
}

PagedCache::Table& PagedCache::table(SequenceId sequence) {
    const auto found = tables_.find(sequence);
    if (found == tables_.end()) fail("paged cache: no sequence ", sequence);
    return found->second;
}

void PagedCache::copy_block(std::int64_t from, std::int64_t to) {
    // The rows of a block lie together within each layer.
    const std::int64_t bytes = layout_.kv_heads * layout_.block_size * row_bytes();
    for (std::int64_t layer = 0; layer < layout_.layers; ++layer) {
        for (const Kind kind : {Kind::key, Kind::value}) {
            std::memcpy(storage_.at(kind, layout_.row_offset(layer, {to, 0}, 0)),
                        storage_.at(kind, layout_.row_offset(layer, {from, 0}, 0)),
                        static_cast<std::size_t>(bytes));
        }
    }
}

KvCache::Place PagedCache::place(const RowKey& key, std::int64_t position) {
    const std::vector<std::int64_t>& blocks = table(key.sequence).blocks;
    const std::int64_t logical = position / layout_.block_size;
    KVTAPE_CHECK(logical, <, std::ssize(blocks));
    const BlockSlot at{blocks[static_cast<std::size_t>(logical)], position % layout_.block_size};
    return {storage_.at(key.kind, layout_.row_offset(key.layer, at, key.kv_head)), layout_.slot(at),
            layout_.block_size - at.position_in_block};
}

}  // namespace kvtape
