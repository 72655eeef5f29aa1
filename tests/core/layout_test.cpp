#include "core/layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kvtape {
namespace {

// Marks the D elements of a row; every element of the array must be marked exactly once.
class Cover {
  public:
    Cover(std::int64_t elements, std::int64_t head_dim)
        : times_(static_cast<std::size_t>(elements)), head_dim_(head_dim) {}

    void row(std::int64_t offset) {
        for (std::int64_t i = 0; i < head_dim_; ++i)
            ++times_.at(static_cast<std::size_t>(offset + i));
    }
    void expect_each_element_once() const {
        for (std::size_t i = 0; i < times_.size(); ++i) ASSERT_EQ(times_[i], 1) << "element " << i;
    }

  private:
    std::vector<int> times_;
    std::int64_t head_dim_;
};

TEST(ContiguousLayout, EachRowHasItsOwnElements) {
    for (const ContiguousLayout layout :
         {ContiguousLayout{1, 1, 1, 1}, ContiguousLayout{2, 3, 5, 4}, ContiguousLayout{3, 2, 1, 6},
          ContiguousLayout{1, 4, 7, 2}}) {
        Cover cover(layout.elements(), layout.head_dim);
        for (std::int64_t layer = 0; layer < layout.layers; ++layer)
            for (std::int64_t head = 0; head < layout.kv_heads; ++head)
                for (std::int64_t position = 0; position < layout.capacity; ++position)
                    cover.row(layout.row_offset(layer, head, position));
        cover.expect_each_element_once();
    }
}

TEST(PagedLayout, EachRowHasItsOwnElements) {
    for (const PagedLayout layout : {PagedLayout{1, 1, 1, 1, 1}, PagedLayout{2, 4, 3, 2, 4},
                                     PagedLayout{3, 2, 2, 1, 6}, PagedLayout{1, 3, 4, 16, 2}}) {
        Cover cover(layout.elements(), layout.head_dim);
        for (std::int64_t layer = 0; layer < layout.layers; ++layer)
            for (std::int64_t slot = 0; slot < layout.blocks * layout.block_size; ++slot)
                for (std::int64_t head = 0; head < layout.kv_heads; ++head)
                    cover.row(layout.row_offset(layer, layout.block_slot(slot), head));
        cover.expect_each_element_once();
    }
}

TEST(PagedLayout, PositionsOfABlockAreNeighbours) {
    const PagedLayout layout{2, 4, 3, 8, 4};
    EXPECT_EQ(layout.row_offset(1, {2, 5}, 1) + 4, layout.row_offset(1, {2, 6}, 1));
}

// PC-PG-04
TEST(PagedLayout, SlotIsSplitByTheBlockSizeOfThePool) {
    const PagedLayout by_16{1, 5000, 1, 16, 1};
    const PagedLayout by_4{1, 5000, 1, 4, 1};
    EXPECT_EQ(by_16.block_slot(75849), (BlockSlot{4740, 9}));
    EXPECT_EQ(by_4.block_slot(13), (BlockSlot{3, 1}));
    EXPECT_EQ(by_16.slot({4740, 9}), 75849);
    EXPECT_EQ(by_4.slot({3, 1}), 13);
}

// PC-CU-04
TEST(PagedLayout, OffsetsPassTwoToThe31) {
    constexpr PagedLayout pool{1, 64001, 32, 16, 128};
    static_assert(pool.row_offset(0, {32767, 0}, 0) == 2'147'418'112);
    EXPECT_EQ(pool.row_offset(0, {32767, 0}, 0), 2'147'418'112);
    EXPECT_EQ(pool.row_offset(0, {32768, 0}, 0), 2'147'483'648);
    EXPECT_EQ(pool.row_offset(0, {64000, 0}, 0), 4'194'304'000);
    constexpr PagedLayout pages{1, 1'048'577, 8, 16, 128};  // 16,384 elements per page
    EXPECT_EQ(pages.row_offset(0, {1'048'576, 0}, 0), 17'179'869'184);
    constexpr ContiguousLayout contiguous{80, 64, 131'072, 128};
    EXPECT_EQ(contiguous.row_offset(79, 63, 131'071), 85'899'345'920 - 128);
}

// Number (token, head, dim) of a prompt, as it is filled in and must be read back.
float number(std::int64_t token, std::int64_t head, std::int64_t dim) {
    return static_cast<float>(100 * token + 10 * head + dim);
}

// PC-PG-20
TEST(ContiguousLayout, StrideIsTheOneOfTheCacheNotOfThePrompt) {
    constexpr std::int64_t kv_heads = 3, head_dim = 4;
    for (const std::int64_t prompt : {1, 2, 3, 5}) {
        for (const std::int64_t capacity : {prompt, prompt + 1, std::int64_t{8}}) {
            const ContiguousLayout layout{1, kv_heads, capacity, head_dim};
            std::vector<float> cache(static_cast<std::size_t>(layout.elements()), NAN);
            for (std::int64_t t = 0; t < prompt; ++t)
                for (std::int64_t h = 0; h < kv_heads; ++h)
                    for (std::int64_t i = 0; i < head_dim; ++i)
                        cache[static_cast<std::size_t>(layout.row_offset(0, h, t) + i)] =
                            number(t, h, i);
            // [kv_head][position][D], written out in full.
            for (std::int64_t h = 0; h < kv_heads; ++h)
                for (std::int64_t t = 0; t < capacity; ++t)
                    for (std::int64_t i = 0; i < head_dim; ++i) {
                        const float value =
                            cache[static_cast<std::size_t>(h * capacity * 4 + t * 4 + i)];
                        if (t < prompt) {
                            ASSERT_EQ(value, number(t, h, i));
                        } else {
                            ASSERT_TRUE(std::isnan(value)) << "written past the prompt";
                        }
                    }
        }
    }
}

// PC-PG-20
TEST(PagedLayout, StrideIsTheOneOfTheCacheNotOfThePrompt) {
    constexpr std::int64_t kv_heads = 3, head_dim = 4, block_size = 2;
    const std::int64_t table[] = {2, 0,
                                  3};  // blocks of the sequence, in the order of its positions
    const PagedLayout layout{1, 4, kv_heads, block_size, head_dim};
    for (const std::int64_t prompt : {1, 2, 3, 5}) {
        std::vector<float> pool(static_cast<std::size_t>(layout.elements()), NAN);
        for (std::int64_t t = 0; t < prompt; ++t)
            for (std::int64_t h = 0; h < kv_heads; ++h)
                for (std::int64_t i = 0; i < head_dim; ++i) {
                    const BlockSlot at{table[t / block_size], t % block_size};
                    pool[static_cast<std::size_t>(layout.row_offset(0, at, h) + i)] =
                        number(t, h, i);
                }
        // [block][kv_head][position in block][D]: 24 elements per block, 8 per head.
        std::int64_t written = 0;
        for (const float value : pool) written += !std::isnan(value);
        EXPECT_EQ(written, prompt * kv_heads * head_dim);
        for (std::int64_t t = 0; t < prompt; ++t)
            for (std::int64_t h = 0; h < kv_heads; ++h)
                for (std::int64_t i = 0; i < head_dim; ++i) {
                    const std::int64_t element = table[t / 2] * 24 + h * 8 + (t % 2) * 4 + i;
                    ASSERT_EQ(pool[static_cast<std::size_t>(element)], number(t, h, i));
                }
    }
}

}  // namespace
}  // namespace kvtape
