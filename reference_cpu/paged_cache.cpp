#include "reference_cpu/paged_cache.h"

#include <cstring>

#include "core/check.h"

namespace kvtape {
namespace {

PagedLayout checked_layout(const ModelShape& shape, std::int64_t block_size, std::int64_t blocks) {
    if (block_size < 1)
        fail("paged cache: block size ", block_size, "; use 1 or more (vLLM uses 16)");
    if (blocks < 1) fail("paged cache: a pool of ", blocks, " blocks; use 1 or more");
    return {shape.layers, blocks, shape.kv_heads, block_size, shape.head_dim};
}

}  // namespace

PagedCache::PagedCache(const ModelShape& shape, KvDtype dtype, std::int64_t block_size,
                       std::int64_t blocks, float scale)
    : KvCache(shape, dtype, scale),
      layout_(checked_layout(shape, block_size, blocks)),
      pool_(blocks),
      storage_(layout_.elements(), dtype) {}

Lane PagedCache::lane() const {
    return {"paged", "cpu", "paged", dtype(), layout_.block_size, layout_.blocks, scale()};
}

std::int64_t PagedCache::length(SequenceId sequence) const {
    const auto found = tables_.find(sequence);
    return found == tables_.end() ? 0 : found->second.length;
}

void PagedCache::reserve(SequenceId sequence, std::int64_t end) {
    const std::int64_t needed = (end + layout_.block_size - 1) / layout_.block_size;
    const auto found = tables_.find(sequence);
    const std::int64_t held = found == tables_.end() ? 0 : std::ssize(found->second.blocks);
    const std::int64_t length = found == tables_.end() ? 0 : found->second.length;

    // A shared block that is about to be written needs a copy of its own, and so a free block.
    const bool writes_held_block = end > length && length < held * layout_.block_size;
    const std::int64_t writes_into = length / layout_.block_size;
    const bool copies =
        writes_held_block &&
        pool_.references(found->second.blocks[static_cast<std::size_t>(writes_into)]) > 1;
    const std::int64_t grows = std::max<std::int64_t>(needed - held, 0);
    if (grows + (copies ? 1 : 0) > pool_.free_blocks()) {
        fail("paged cache: sequence ", sequence, " needs ", grows + (copies ? 1 : 0),
             " more blocks for ", end, " tokens, ", pool_.free_blocks(), " of ", pool_.blocks(),
             " are free (", pool_.free_blocks() * layout_.block_size,
             " tokens); use a larger pool or fewer sequences");
    }

    Table& table = tables_[sequence];
    if (copies) {
        std::int64_t& entry = table.blocks[static_cast<std::size_t>(writes_into)];
        const std::int64_t shared = entry;
        entry = pool_.replace_shared(shared, sequence);
        copy_block(shared, entry);
    }
    for (std::int64_t i = 0; i < grows; ++i) table.blocks.push_back(pool_.allocate(sequence));
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
