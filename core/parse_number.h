// Numbers as people type them: decimal, all of the text, and never clamped to what fits.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "core/check.h"

namespace kvtape {

// Reads all of `text` into `number`. errc() if that went well; result_out_of_range if it is a
// number, but not one of this type; invalid_argument otherwise.
template <class Number>
std::errc read_number(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    return after == end ? error : std::errc::invalid_argument;
}

// The number that an option was given. Throws Error if it is none, or does not fit.
template <class Number>
Number parse_number(const std::string& option, std::string_view text) {
    Number number{};
    const std::errc error = read_number(text, number);
    if (error == std::errc::result_out_of_range) {
        fail(option, " is ", text, ", which does not fit into ", 8 * sizeof(Number), " bits");
    }
    if (error != std::errc()) {
        fail(option, " is '", text, "', which is not ",
             !std::is_integral_v<Number>  ? "a number"
             : std::is_unsigned_v<Number> ? "a whole number of 0 or more"
                                          : "a whole number");
    }
    return number;
}

// Numbers with commas between them; spaces around a number do not matter. Throws Error.
template <class Number>
std::vector<Number> parse_numbers(const std::string& option, std::string_view text) {
    std::vector<Number> numbers;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        std::string_view piece = rest.substr(0, comma);
        while (!piece.empty() && piece.front() == ' ') piece.remove_prefix(1);
        while (!piece.empty() && piece.back() == ' ') piece.remove_suffix(1);
        if (piece.empty()) {
            fail(option, " is '", text, "'; use numbers with one comma between them: 1,2,3");
        }
        numbers.push_back(parse_number<Number>(option, piece));
        if (comma == std::string_view::npos) return numbers;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace kvtape
