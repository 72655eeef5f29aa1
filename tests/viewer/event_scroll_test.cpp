// Scrolling through lists of any length, row by row.
#include "viewer/event_scroll.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

constexpr double shortest_grip = 0.2;

EventScroll list(std::int64_t rows, std::int64_t room) {
    EventScroll scroll;
    scroll.fit(rows, room);
    return scroll;
}

TEST(EventScroll, OneRowUpFromTheLastOfTwoMillion) {
    EventScroll scroll = list(2'000'000, 7);
    scroll.put_on_top(1'999'999);
    EXPECT_EQ(scroll.first(), 1'999'993);  // the last row is the lowest on show
    EXPECT_EQ(scroll.end(), 2'000'000);
    scroll.move(-1);
    EXPECT_EQ(scroll.first(), 1'999'992);
    scroll.turn_wheel(-1);
    EXPECT_EQ(scroll.first(), 1'999'991);
    scroll.move(1'000'000'000);
    EXPECT_EQ(scroll.first(), 1'999'993);
}

// A float holds no odd number beyond 2^24, a 32-bit integer none beyond 2^31.
TEST(EventScroll, TellsRowsApartInListsOfAnyLength) {
    for (const std::int64_t rows : {std::int64_t{20'000'000}, std::int64_t{1} << 40}) {
        EventScroll scroll = list(rows, 1);
        for (std::int64_t back = 1; back < 50; ++back) {
            scroll.put_on_top(rows);
            scroll.move(-back);
            EXPECT_EQ(scroll.first(), rows - 1 - back);
        }
    }
}

TEST(EventScroll, ListsThatFitStandStill) {
    for (const std::int64_t rows : {0, 1, 6, 7}) {
        EventScroll scroll = list(rows, 7);
        EXPECT_TRUE(scroll.fits());
        scroll.move(5);
        scroll.turn_wheel(-3);
        scroll.move_pages(1);
        scroll.put_on_top(100);
        scroll.reveal(rows);
        scroll.drag_grip(0.7, shortest_grip);
        EXPECT_EQ(scroll.first(), 0);
        EXPECT_EQ(scroll.end(), rows);
        EXPECT_EQ(scroll.grip_length(shortest_grip), 1);
        EXPECT_EQ(scroll.grip_begin(shortest_grip), 0);
    }
    EXPECT_FALSE(list(8, 7).fits());
}

TEST(EventScroll, EveryRowCanBeReached) {
    EventScroll scroll = list(10, 3);
    std::int64_t seen = 0;
    do {
        EXPECT_EQ(scroll.first(), seen);
        ++seen;
        scroll.move(1);
    } while (scroll.first() == seen);
    EXPECT_EQ(seen, 8);
    EXPECT_EQ(scroll.end(), 10);
}

TEST(EventScroll, NothingOverflows) {
    EventScroll scroll = list(100, 10);
    scroll.put_on_top(50);
    scroll.move(INT64_MAX);
    EXPECT_EQ(scroll.first(), 90);
    scroll.move(INT64_MIN);
    EXPECT_EQ(scroll.first(), 0);
    scroll.move_pages(INT64_MAX);
    EXPECT_EQ(scroll.first(), 90);
    scroll.move_pages(INT64_MIN);
    EXPECT_EQ(scroll.first(), 0);
    scroll.fit(-5, -5);
    EXPECT_EQ(scroll.end(), 0);
}

TEST(EventScroll, PagesKeepOneRow) {
    EventScroll scroll = list(100, 10);
    scroll.move_pages(1);
    EXPECT_EQ(scroll.first(), 9);
    scroll.move_pages(-1);
    EXPECT_EQ(scroll.first(), 0);
    EventScroll narrow = list(5, 1);  // where a page is one row, it still moves
    narrow.move_pages(2);
    EXPECT_EQ(narrow.first(), 2);
}

TEST(EventScroll, PartsOfARowAddUp) {
    EventScroll scroll = list(100, 10);
    for (int i = 0; i < 5; ++i) scroll.turn_wheel(0.375);
    EXPECT_EQ(scroll.first(), 1);
    scroll.turn_wheel(0.125);
    EXPECT_EQ(scroll.first(), 2);
    scroll.turn_wheel(-2);
    EXPECT_EQ(scroll.first(), 0);
}

TEST(EventScroll, RevealsARowWithoutMovingWhatIsThere) {
    EventScroll scroll = list(1000, 10);
    scroll.put_on_top(100);
    for (const std::int64_t row : {100, 105, 109}) {
        scroll.reveal(row);
        EXPECT_EQ(scroll.first(), 100);
    }
    scroll.reveal(110);
    EXPECT_EQ(scroll.first(), 105);
    scroll.reveal(999);
    EXPECT_EQ(scroll.first(), 990);
    scroll.reveal(0);
    EXPECT_EQ(scroll.first(), 0);
}

TEST(EventScroll, AGrowingListStaysWhereItIs) {
    EventScroll scroll = list(100, 10);
    scroll.put_on_top(90);
    scroll.fit(5000, 10);
    EXPECT_EQ(scroll.first(), 90);
    scroll.fit(50, 10);  // and a shorter one is not left behind
    EXPECT_EQ(scroll.first(), 40);
}

TEST(EventScroll, TheGripGoesFromEndToEnd) {
    EventScroll scroll = list(2'000'000, 7);
    EXPECT_EQ(scroll.grip_length(shortest_grip), shortest_grip);
    EXPECT_EQ(scroll.grip_begin(shortest_grip), 0);
    scroll.put_on_top(2'000'000);
    EXPECT_DOUBLE_EQ(scroll.grip_begin(shortest_grip) + scroll.grip_length(shortest_grip), 1);
    scroll.drag_grip(-1, shortest_grip);
    EXPECT_EQ(scroll.first(), 0);
    scroll.drag_grip(5, shortest_grip);
    EXPECT_EQ(scroll.first(), 1'999'993);
    scroll.drag_grip(0.4, shortest_grip);  // half of the way of 0.8
    EXPECT_EQ(scroll.first(), 999'997);
    EXPECT_EQ(list(100, 50).grip_length(shortest_grip), 0.5);
}

// Pressing the grip without moving the mouse must not move the list.
TEST(EventScroll, AGripThatIsNotMovedMovesNothing) {
    EventScroll scroll = list(2'000'000, 7);
    for (const std::int64_t row : {1, 12'345, 999'999, 1'999'992}) {
        scroll.put_on_top(row);
        scroll.drag_grip(scroll.grip_begin(shortest_grip), shortest_grip);
        EXPECT_EQ(scroll.first(), row);
    }
}

TEST(EventScroll, ReadsWhatIsTyped) {
    EXPECT_EQ(parse_row("0"), 0);
    EXPECT_EQ(parse_row("1,234,567"), 1'234'567);
    EXPECT_EQ(parse_row(" 12 "), 12);
    for (const char* no_number : {"", "x", "12x", "-1", "1.5", "99999999999999999999"}) {
        EXPECT_FALSE(parse_row(no_number)) << no_number;
    }
}

}  // namespace
}  // namespace kvtape
