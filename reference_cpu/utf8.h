// UTF-8, read one character at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kvtape {

// The character that starts at `offset`, which moves past it; nothing if the bytes there are not
// UTF-8 (a wrong or missing continuation, an overlong form, a surrogate, beyond U+10FFFF).
std::optional<char32_t> next_character(std::string_view text, std::size_t& offset);

// The offset of the first byte that is not part of valid UTF-8; nothing if all of it is valid.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace kvtape
