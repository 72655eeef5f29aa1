// How single values are spelled on a tape: floats, which may be no number, and tokens, which may be
// no text.
#pragma once

#include "tracer/step.h"
#include "tracer/tape_format.h"

namespace kvtape {

// A number, exactly, or "NaN", "Infinity" or "-Infinity".
Json spell(float value);
float float_from(const Json& value, const char* what);

// {"id":5,"text":" cat"}; with "bytes" in hex if the token is not UTF-8.
Json spell(const TokenText& token);
TokenText token_from(const Json& json);

}  // namespace kvtape
