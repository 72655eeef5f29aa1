// Amounts of bytes as people read and write them. A unit always matches its divisor: GB is 10^9
// bytes, GiB is 2^30.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/number_text.h"

namespace kvtape {

inline constexpr double bytes_per_gb = 1e9;
inline constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

// "10,737,418,240 bytes = 10.737 GB = 10.000 GiB"; smaller amounts in kB and KiB, MB and MiB, and
// below 1,000 in bytes alone.
std::string bytes_in_units(std::int64_t bytes);

// "4096", "64MiB", "1.5 GB": a number and, if it is not bytes, its unit (B, kB, MB, GB, TB or KiB,
// MiB, GiB, TiB). A fraction of a byte is dropped. Throws Error naming `option` for anything else.
std::int64_t parse_bytes(const std::string& option, std::string_view text);

// Throws Error naming `what` if the result does not fit into 64 bits. Neither factor is negative.
std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* what);

// a / b, rounded up. 0 <= a, 0 < b.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0);
}

// Throws Error "<option> is <value>; use <smallest> or more" (or up to `largest`).
void check_at_least(const char* option, std::int64_t value, std::int64_t smallest);
void check_between(const char* option, std::int64_t value, std::int64_t smallest,
                   std::int64_t largest);

}  // namespace kvtape
