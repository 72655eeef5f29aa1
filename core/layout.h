// Where a row lies. A *row* is the D numbers of one (layer, kv_head, K or V, position). K and V are
// two separate arrays of the same layout. Nobody else in kvtape multiplies strides: every cache
// offset, on the CPU and on the GPU, comes from `row_offset` below.
//
// Offsets are 64-bit from the first factor on: with 64,000 blocks of 16 x 32 x 128 elements the
// product passes 2^31, and a 32-bit offset would read another block without any error.
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace kvtape {

// [layer][kv_head][position][D]: one sequence, positions of a head next to each other.
struct ContiguousLayout {
    std::int64_t layers;    // L
    std::int64_t kv_heads;  // G
    std::int64_t capacity;  // positions there is room for
    std::int64_t head_dim;  // D

    // Offset, in elements, of the first of the D numbers of a row.
    KVTAPE_HOST_DEVICE constexpr std::int64_t row_offset(std::int64_t layer, std::int64_t kv_head,
                                                         std::int64_t position) const {
        return ((layer * kv_heads + kv_head) * capacity + position) * head_dim;
    }
    KVTAPE_HOST_DEVICE constexpr std::int64_t elements() const {
        return layers * kv_heads * capacity * head_dim;
    }
};

// A place in the paged cache: the block and the row inside it.
struct BlockSlot {
    std::int64_t block;
    std::int64_t position_in_block;  // range [0, B)

    friend constexpr bool operator==(BlockSlot, BlockSlot) = default;
};

// [layer][block][kv_head][position in block][D]: a pool of blocks that many sequences share.
struct PagedLayout {
    std::int64_t layers;      // L
    std::int64_t blocks;      // blocks in the pool
    std::int64_t kv_heads;    // G
    std::int64_t block_size;  // B
    std::int64_t head_dim;    // D

    // Offset, in elements, of the first of the D numbers of a row.
    KVTAPE_HOST_DEVICE constexpr std::int64_t row_offset(std::int64_t layer, BlockSlot at,
                                                         std::int64_t kv_head) const {
        return (((layer * blocks + at.block) * kv_heads + kv_head) * block_size +
                at.position_in_block) *
               head_dim;
    }
    KVTAPE_HOST_DEVICE constexpr std::int64_t elements() const {
        return layers * blocks * kv_heads * block_size * head_dim;
    }

    // A slot numbers the rows of the whole pool: block * B + position in block.
    KVTAPE_HOST_DEVICE constexpr std::int64_t slot(BlockSlot at) const {
        return at.block * block_size + at.position_in_block;
    }
    KVTAPE_HOST_DEVICE constexpr BlockSlot block_slot(std::int64_t slot) const {
        return {slot / block_size, slot % block_size};
    }
};

}  // namespace kvtape
