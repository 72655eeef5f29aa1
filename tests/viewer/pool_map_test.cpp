// Where blocks and slots stand, and which one is under a point.
#include "viewer/pool_map.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

TEST(PoolMap, BoxesFitAndDoNotTouch) {
    for (const std::int64_t blocks : {1, 17, 64, 200}) {
        for (const std::int64_t size : {1, 3, 8, 16, 32}) {
            const PoolMap map = map_of_blocks(blocks, size, 900, 400, 1);
            ASSERT_TRUE(map.boxes) << blocks << " of " << size;
            EXPECT_GE(map.slots_across * map.slots_down, size);
            const PoolMap::Box last = map.box(blocks - 1), first = map.box(0);
            EXPECT_EQ(first.x, 0);
            EXPECT_LE(map.height(), 400);
            EXPECT_LT(last.y + last.height, map.height());
            EXPECT_LE(map.box(std::min(blocks, map.across) - 1).x + first.width, 900);
            if (map.across > 1 && blocks > 1) {
                EXPECT_GT(map.box(1).x, first.x + first.width);
            }
        }
    }
}

TEST(PoolMap, SlotsStandInTheirBox) {
    const PoolMap map = map_of_blocks(10, 16, 300, 80, 1);
    ASSERT_TRUE(map.boxes);
    EXPECT_EQ(map.slots_across, 4);
    EXPECT_EQ(map.slots_down, 4);
    const PoolMap::Box box = map.box(7), slot = map.slot_box(7, 6);  // third in the second line
    EXPECT_EQ(slot.x, box.x + 2 * map.texel);
    EXPECT_EQ(slot.y, box.y + 1 * map.texel);
}

TEST(PoolMap, AHitIsWhatIsDrawnThere) {
    const PoolMap maps[] = {map_of_blocks(50, 8, 300, 100, 1), map_of_blocks(20000, 16, 300, 90, 1),
                            map_of_cells(1000, 300, 90, 2)};
    EXPECT_TRUE(maps[0].boxes);
    EXPECT_FALSE(maps[1].boxes);
    for (const PoolMap& map : maps) {
        for (std::int64_t unit = 0; unit < map.units; unit += 7) {
            for (std::int64_t slot = 0; slot < map.slots; ++slot) {
                const PoolMap::Box box = map.slot_box(unit, slot);
                const auto hit = map.hit(box.x + box.width / 2, box.y + box.height / 2);
                ASSERT_TRUE(hit.has_value());
                EXPECT_EQ(hit->unit, unit);
                EXPECT_EQ(hit->slot, map.boxes ? slot : -1);
            }
        }
        EXPECT_FALSE(map.hit(-1, 0).has_value());
        EXPECT_FALSE(map.hit(0, map.height() + 1).has_value());
        EXPECT_FALSE(map.hit(map.unit_width() * static_cast<double>(map.across) + 1, 0));
    }
    const PoolMap& boxes = maps[0];
    const PoolMap::Box first = boxes.box(0);
    EXPECT_FALSE(boxes.hit(first.width + boxes.texel / 2, 1).has_value());  // the gap
}

TEST(PoolMap, LargePoolsAreCellsThatMayBeScrolled) {
    const PoolMap some = map_of_blocks(2000, 16, 300, 90, 1);
    EXPECT_FALSE(some.boxes);
    EXPECT_LE(some.height(), 90);
    const PoolMap many = map_of_blocks(20000, 16, 300, 90, 1);
    EXPECT_GT(many.height(), 90);
    EXPECT_GE(many.texel, 3);
    EXPECT_EQ(many.lines, (many.units + many.across - 1) / many.across);
}

// Addresses beyond 32 bits, and beyond what a 32-bit float counts.
TEST(PoolMap, HoldsPoolsOfAnySize) {
    const std::int64_t blocks = (std::int64_t{1} << 40) - 1;
    const PoolMap map = map_of_blocks(blocks, 1, 300, 90, 1);
    const PoolMap::Box box = map.box(blocks - 1);
    EXPECT_EQ(map.hit(box.x + 1, box.y + 1).value().unit, blocks - 1);
    EXPECT_EQ(scroll_length(map.height(), 90), longest_scroll);
    EXPECT_EQ(scrolled_to(0, map.height(), 90), 0);
    EXPECT_EQ(scrolled_to(longest_scroll - 90, map.height(), 90), map.height() - 90);
}

TEST(PoolMap, AShortMapDoesNotScroll) {
    EXPECT_EQ(scroll_length(50, 90), 90);
    EXPECT_EQ(scrolled_to(10, 50, 90), 0);
    EXPECT_EQ(scroll_length(200, 90), 200);
    EXPECT_EQ(scrolled_to(70, 200, 90), 70);  // pixel by pixel
}

TEST(PoolMap, ExistsWithoutUnitsOrRoom) {
    EXPECT_EQ(map_of_cells(0, 300, 90, 1).lines, 0);
    EXPECT_FALSE(map_of_cells(0, 300, 90, 1).hit(1, 1).has_value());
    EXPECT_EQ(map_of_blocks(5, 16, 1, 1, 1).across, 1);
}

}  // namespace
}  // namespace kvtape
