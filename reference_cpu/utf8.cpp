#include "reference_cpu/utf8.h"

#include <unicode/utf8.h>

#include <cstdint>

#include "core/check.h"

namespace kvtape {

std::optional<char32_t> next_character(std::string_view text, std::size_t& offset) {
    KVTAPE_CHECK(offset, <, text.size());
    // ICU's macro wants 32-bit indices, so it gets the few bytes that a character can have.
    const std::string_view window = text.substr(offset, U8_MAX_LENGTH);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(window.data());
    const auto length = static_cast<std::int32_t>(window.size());
    std::int32_t used = 0;
    UChar32 character = 0;
    U8_NEXT(bytes, used, length, character);
    if (character < 0) {
        return {};
    }
    offset += static_cast<std::size_t>(used);
    return static_cast<char32_t>(character);
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
    for (std::size_t offset = 0; offset < text.size();) {
        if (!next_character(text, offset)) {
            return offset;
        }
    }
    return {};
}

}  // namespace kvtape
