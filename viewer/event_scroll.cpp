#include "viewer/event_scroll.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace kvtape {

void EventScroll::fit(std::int64_t rows, std::int64_t room) {
    rows_ = std::max<std::int64_t>(rows, 0);
    room_ = std::max<std::int64_t>(room, 1);
    put_on_top(first_);
}

std::int64_t EventScroll::end() const {
    return first_ + std::min(rows_ - first_, room_);
}

void EventScroll::put_on_top(std::int64_t row) {
    first_ = std::clamp<std::int64_t>(row, 0, last_first());
}

void EventScroll::move(std::int64_t rows) {
    // first_ + rows could overflow; the distances to both ends cannot.
    first_ += std::clamp(rows, -first_, last_first() - first_);
}

void EventScroll::move_pages(std::int64_t pages) {
    // A row of the page before stays, so that the eye finds its place.
    const std::int64_t page = std::max<std::int64_t>(room_ - 1, 1);
    const std::int64_t most = last_first() / page + 1;
    move(std::clamp(pages, -most, most) * page);
}

void EventScroll::turn_wheel(double rows) {
    turned_ += rows;
    const double whole = std::trunc(turned_);
    turned_ -= whole;
    move(static_cast<std::int64_t>(whole));
}

void EventScroll::reveal(std::int64_t row) {
    if (row < first_ || row >= first_ + room_) put_on_top(row - room_ / 2);
}

double EventScroll::grip_length(double shortest) const {
    if (fits()) return 1;
    return std::clamp(static_cast<double>(room_) / static_cast<double>(rows_), shortest, 1.0);
}

double EventScroll::grip_begin(double shortest) const {
    if (fits()) return 0;
    return static_cast<double>(first_) / static_cast<double>(last_first()) *
           (1 - grip_length(shortest));
}

void EventScroll::drag_grip(double begin, double shortest) {
    const double way = 1 - grip_length(shortest);
    if (!(way > 0)) return;
    const double share = std::clamp(begin / way, 0.0, 1.0);
    put_on_top(std::llround(share * static_cast<double>(last_first())));
}

std::optional<std::int64_t> parse_row(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != ',' && c != ' ') digits += c;
    }
    std::int64_t row = 0;
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, row);
    if (error != std::errc() || rest != end || row < 0) return std::nullopt;
    return row;
}

}  // namespace kvtape
