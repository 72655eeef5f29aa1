// Text that may not be text: a byte-level token can hold part of a character.
#pragma once

#include <string>
#include <string_view>

namespace kvtape {

// Well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, surrogates or cut characters.
bool is_utf8(std::string_view bytes);

// The same text with U+FFFD in place of each part that is not UTF-8.
std::string printable(std::string_view bytes);

}  // namespace kvtape
