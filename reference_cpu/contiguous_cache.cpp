#include "reference_cpu/contiguous_cache.h"

#include <cstring>
#include <set>

#include "core/check.h"

namespace kvtape {

ContiguousCache::ContiguousCache(const ModelShape& shape, KvDtype dtype, std::int64_t capacity,
                                 float scale)
    : KvCache(shape, dtype, scale),
      layout_{shape.layers, shape.kv_heads, capacity, shape.head_dim} {
    if (capacity < 1)
        fail("contiguous cache: a capacity of ", capacity, " positions; use 1 or more");
}

Lane ContiguousCache::lane() const {
    return {"contiguous", "cpu", "contiguous", dtype(), 0, 0, scale()};
}

std::int64_t ContiguousCache::length(SequenceId sequence) const {
    const auto found = slabs_.find(sequence);
    return found == slabs_.end() ? 0 : found->second->length;
}

std::unique_ptr<ContiguousCache::Slab> ContiguousCache::new_slab() const {
    // Slots number the rows of all slabs, so that two sequences never share one: the lowest free
    // range of `capacity` slots is taken.
    std::set<std::int64_t> taken;
    for (const auto& [sequence, slab] : slabs_) taken.insert(slab->slot_begin);
    std::int64_t slot_begin = 0;
    while (taken.contains(slot_begin)) slot_begin += layout_.capacity;
    return std::make_unique<Slab>(Slab{KvStorage(layout_.elements(), dtype()), 0, 0, slot_begin});
}

void ContiguousCache::check_room(std::span<const Reservation> wanted) const {
    for (const auto& [sequence, end] : wanted) {
        if (end <= layout_.capacity) continue;
        fail("contiguous cache: sequence ", sequence, " needs ", end, " positions, ",
             layout_.capacity, " are reserved per sequence; shorten it or raise max_model_len");
    }
}

void ContiguousCache::reserve(SequenceId sequence, std::int64_t end) {
    const Reservation wanted[] = {{sequence, end}};
    check_room(wanted);
    if (!slabs_.contains(sequence)) slabs_.emplace(sequence, new_slab());
    slab(sequence).reserved = end;
}

void ContiguousCache::commit(SequenceId sequence, std::int64_t end) {
    slab(sequence).length = end;
}

void ContiguousCache::release(SequenceId sequence) {
    slabs_.erase(sequence);
}

void ContiguousCache::fork(SequenceId source, SequenceId target) {
    if (slabs_.contains(target)) fail("fork: sequence ", target, " already exists");
    Slab& from = slab(source);
    std::unique_ptr<Slab> to = new_slab();
    // Every row is copied. Sharing them needs pages: see PagedCache::fork.
    for (const Kind kind : {Kind::key, Kind::value}) {
        std::memcpy(to->storage.at(kind, 0), from.storage.at(kind, 0),
                    static_cast<std::size_t>(from.storage.bytes() / 2));
    }
    to->length = from.length;
    slabs_[target] = std::move(to);
}

std::int64_t ContiguousCache::bytes_held() const {
    std::int64_t bytes = 0;
    for (const auto& [sequence, slab] : slabs_) bytes += slab->storage.bytes();
    return bytes;
}

ContiguousCache::Slab& ContiguousCache::slab(SequenceId sequence) {
    const auto found = slabs_.find(sequence);
    if (found == slabs_.end()) fail("contiguous cache: no sequence ", sequence);
    return *found->second;
}

KvCache::Place ContiguousCache::place(const RowKey& key, std::int64_t position) {
    Slab& in = slab(key.sequence);
    KVTAPE_CHECK(position, <, in.reserved);
    return {in.storage.at(key.kind, layout_.row_offset(key.layer, key.kv_head, position)),
            in.slot_begin + position, layout_.capacity - position};
}

}  // namespace kvtape
