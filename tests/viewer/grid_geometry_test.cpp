#include "viewer/grid_geometry.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

TEST(GridGeometry, EveryCellIsFoundWhereItIsDrawn) {
    const GridGeometry geometry({100, 50, 300, 80, 2.5, 10, 1, 4}, 40, 8);
    for (std::int64_t track = 1; track < 5; ++track) {
        for (std::int64_t position = 3; position < 12; ++position) {
            const double x = geometry.left(static_cast<double>(position) + 0.5);
            const double y = geometry.top(static_cast<double>(track) + 0.5);
            const auto hit = geometry.hit(x, y);
            ASSERT_TRUE(hit.has_value());
            EXPECT_EQ(hit->track, track);
            EXPECT_EQ(hit->position, position);
        }
    }
    EXPECT_FALSE(geometry.hit(99, 60).has_value());
    EXPECT_FALSE(geometry.hit(400, 60).has_value());
    EXPECT_FALSE(geometry.hit(150, 130).has_value());
}

TEST(GridGeometry, BehindTheLastCellThereIsNone) {
    const GridGeometry geometry({0, 0, 100, 10, 0, 10, 0, 1}, 4, 1);
    EXPECT_TRUE(geometry.hit(35, 5).has_value());
    EXPECT_FALSE(geometry.hit(45, 5).has_value());
}

// PC-TV-11
TEST(GridGeometry, OfNoSizeHasNoCells) {
    const GridGeometry geometry({0, 0, 0, 0, 0, 10, 0, 1}, 4, 1);
    EXPECT_FALSE(geometry.hit(0, 0).has_value());
}

TEST(GridGeometry, ZoomKeepsThePointUnderTheMouse) {
    const Window before{10, 40};
    const Window after = zoomed(before, 0.5, 0.25, 100);
    EXPECT_DOUBLE_EQ(after.count, 20);
    EXPECT_DOUBLE_EQ(after.first + 0.25 * after.count, before.first + 0.25 * before.count);
}

TEST(GridGeometry, ZoomEndsAtOneCellAndAtAll) {
    EXPECT_DOUBLE_EQ(zoomed({10, 40}, 1e-9, 0.5, 100).count, 1);
    const Window all = zoomed({10, 40}, 1e9, 0.5, 100);
    EXPECT_DOUBLE_EQ(all.first, 0);
    EXPECT_DOUBLE_EQ(all.count, 100);
    EXPECT_DOUBLE_EQ(zoomed({0, 1}, 2, 0.5, 0).count, 1);
}

TEST(GridGeometry, MovingEndsAtTheEdges) {
    EXPECT_DOUBLE_EQ(moved({10, 40}, -50, 100).first, 0);
    EXPECT_DOUBLE_EQ(moved({10, 40}, 500, 100).first, 60);
}

}  // namespace
}  // namespace kvtape
