#include "core/number_text.h"

#include <array>
#include <cstdio>

namespace kvtape {

std::string with_commas(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t sign = digits[0] == '-' ? 1 : 0;
    for (std::size_t place = digits.size(); place > sign + 3;) {
        place -= 3;
        digits.insert(place, ",");
    }
    return digits;
}

std::string counted(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string decimal(double value, int digits) {
    std::array<char, 400> text;  // the largest double has 309 digits before the point
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string duration(double seconds) {
    if (seconds >= 1) return decimal(seconds, 2) + " s";
    if (seconds >= 1e-3) return decimal(seconds * 1e3, 2) + " ms";
    return decimal(seconds * 1e6, 1) + " us";
}

}  // namespace kvtape
