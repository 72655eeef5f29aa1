// How single values are spelled on a tape: floats, which may be no number, tokens, which may be no
// text, and bytes, which are neither.
#pragma once

#include <string>
#include <string_view>

#include "tracer/step.h"
#include "tracer/tape_format.h"

namespace kvtape {

// A number, exactly, or "NaN", "Infinity" or "-Infinity".
Json spell(float value);
float float_from(const Json& value, const char* what);

// Two digits of 0-9 and a-f for every byte.
std::string hex(std::string_view bytes);
std::string bytes_from_hex(const std::string& text, const char* what);

// {"id":5,"text":" cat"}; with "bytes" in hex if the token is not UTF-8.
Json spell(const TokenText& token);
TokenText token_from(const Json& json);

}  // namespace kvtape
