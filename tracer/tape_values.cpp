#include "tracer/tape_values.h"

#include <cmath>
#include <limits>

#include "core/check.h"
#include "tracer/tape_fields.h"
#include "tracer/utf8.h"

namespace kvtape {

using namespace fields;

Json spell(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return static_cast<double>(value);
}

float float_from(const Json& value, const char* what) {
    if (value.is_number()) {
        const double number = value.get<double>();
        const auto narrow = static_cast<float>(
            std::abs(number) <= std::numeric_limits<float>::max() ? number : 0.0);
        if (static_cast<double>(narrow) != number) {
            fail("\"", what, "\" is ", number, ", which is not a 32-bit float");
        }
        return narrow;
    }
    if (value == "NaN") return std::numeric_limits<float>::quiet_NaN();
    if (value == "Infinity") return std::numeric_limits<float>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<float>::infinity();
    fail("\"", what, "\" is not a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

std::string hex(std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string bytes_from_hex(const std::string& text, const char* what) {
    const auto digit = [what](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        fail("\"", what, "\" are not pairs of the digits 0-9 and a-f");
    };
    if (text.size() % 2 != 0) fail("\"", what, "\" have an odd number of hex digits");
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    }
    return bytes;
}

Json spell(const TokenText& token) {
    Json json = {{"id", token.id}, {"text", printable(token.bytes)}};
    if (!is_utf8(token.bytes)) json["bytes"] = hex(token.bytes);
    return json;
}

TokenText token_from(const Json& json) {
    TokenText token;
    token.id = integer32(member(json, "id"), "id");
    token.bytes = text(member(json, "text"), "text");
    if (const Json* bytes = optional(json, "bytes")) {
        token.bytes = bytes_from_hex(text(*bytes, "bytes"), "bytes");
    }
    return token;
}

}  // namespace kvtape
