// Which rows of a long list are on show. Rows are counted in 64 bits: a scroll position in pixels,
// as Dear ImGui keeps it, is a float, and cannot tell neighbouring rows apart beyond 2^24 pixels.
//
// It knows no windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvtape {

class EventScroll {
  public:
    // How many rows there are, and how many fit. Say so before anything else in a frame.
    void fit(std::int64_t rows, std::int64_t room);

    // The rows on show: [first, end).
    std::int64_t first() const { return first_; }
    std::int64_t end() const;
    bool fits() const { return rows_ <= room_; }

    // Each goes as far as there are rows.
    void put_on_top(std::int64_t row);
    void move(std::int64_t rows);
    void move_pages(std::int64_t pages);
    // Wheels may turn by parts of a row; the parts add up.
    void turn_wheel(double rows);
    // If the row is not on show, it comes into the middle.
    void reveal(std::int64_t row);

    // The grip of a scroll bar, as shares [0, 1] of the bar. It is never shorter than `shortest`.
    double grip_length(double shortest) const;
    double grip_begin(double shortest) const;
    void drag_grip(double begin, double shortest);

  private:
    std::int64_t last_first() const { return rows_ > room_ ? rows_ - room_ : 0; }

    std::int64_t rows_ = 0, room_ = 1;
    std::int64_t first_ = 0;
    double turned_ = 0;  // by the wheel, less than a row
};

// The number that a reader typed, such as "1,234,567"; none if it is not one.
std::optional<std::int64_t> parse_row(std::string_view text);

}  // namespace kvtape
