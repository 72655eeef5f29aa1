// Options that take a number. CLI11 alone reads "010" as 8 and "" as if the option were not there,
// makes a huge number of a negative one and the largest of one that does not fit: all without a
// word.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "core/parse_number.h"

namespace kvtape {

// Parses with `parse`; what that throws is told like every other mistake on the command line.
template <class Parse>
CLI::Option* add_parsed(CLI::App& verb, const std::string& option, const Parse& parse,
                        const std::string& purpose) {
    return verb.add_option_function<std::string>(
        option,
        [parse](const std::string& text) {
            try {
                parse(text);
            } catch (const Error& error) {
                throw CLI::ValidationError(error.what());
            }
        },
        purpose);
}

// The name that messages call an option by: the first of those in "--dtype,--kv-cache-dtype".
inline std::string first_name(const std::string& option) {
    return option.substr(0, option.find(','));
}

// An option with a default, which help shows.
template <class Number>
CLI::Option* add_number(CLI::App& verb, const std::string& option, Number& number,
                        const std::string& purpose) {
    const auto parse = [&number, name = first_name(option)](const std::string& text) {
        number = parse_number<Number>(name, text);
    };
    std::ostringstream shown;
    shown << number;
    return add_parsed(verb, option, parse, purpose)->default_str(shown.str());
}

// An option that may be absent.
template <class Number>
CLI::Option* add_number(CLI::App& verb, const std::string& option, std::optional<Number>& number,
                        const std::string& purpose) {
    const auto parse = [&number, name = first_name(option)](const std::string& text) {
        number = parse_number<Number>(name, text);
    };
    return add_parsed(verb, option, parse, purpose);
}

}  // namespace kvtape
