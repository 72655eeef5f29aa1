#include "cli/units.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/check.h"

namespace kvtape {
namespace {

struct Unit {
    const char* name;
    double bytes;
};

constexpr Unit units[] = {{"", 1},         {"B", 1},        {"kB", 1e3},    {"KB", 1e3},
                          {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10},
                          {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};

}  // namespace

std::string bytes_in_units(std::int64_t bytes) {
    std::string text = with_commas(bytes) + (bytes == 1 ? " byte" : " bytes");
    const auto value = static_cast<double>(bytes);
    if (std::abs(value) < 1e3) return text;
    const int step = std::abs(value) < 1e6 ? 0 : std::abs(value) < 1e9 ? 1 : 2;
    constexpr Unit decimal_units[] = {{"kB", 1e3}, {"MB", 1e6}, {"GB", bytes_per_gb}};
    constexpr Unit binary_units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", bytes_per_gib}};
    for (const Unit& unit : {decimal_units[step], binary_units[step]}) {
        text += " = " + decimal(value / unit.bytes, 3) + " " + unit.name;
    }
    return text;
}

std::int64_t parse_bytes(const std::string& option, std::string_view text) {
    const auto refuse = [&] {
        fail(option, " is '", text,
             "'; use a number of bytes, or a number with kB, MB, GB, KiB, MiB or GiB");
    };
    double number = 0;
    std::int64_t integer = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) refuse();

    std::string_view unit(after, static_cast<std::size_t>(end - after));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    // A plain integer is exact, also where a double is not.
    const auto [after_integer, no_integer] = std::from_chars(text.data(), end, integer);
    if (unit.empty() && no_integer == std::errc() && after_integer == end) return integer;

    for (const Unit& known : units) {
        if (unit != known.name) continue;
        const double bytes = std::floor(number * known.bytes);
        if (!(bytes < 0x1p63)) refuse();
        return static_cast<std::int64_t>(bytes);
    }
    refuse();
    std::abort();  // refuse() does not return
}

std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* what) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        fail(what, ": ", a, " times ", b, " does not fit into 64 bits; use smaller numbers");
    }
    return product;
}

void check_at_least(const char* option, std::int64_t value, std::int64_t smallest) {
    if (value < smallest) fail(option, " is ", value, "; use ", smallest, " or more");
}

void check_between(const char* option, std::int64_t value, std::int64_t smallest,
                   std::int64_t largest) {
    if (value < smallest || value > largest) {
        fail(option, " is ", value, "; use ", smallest, " to ", largest);
    }
}

}  // namespace kvtape
