#include "reference_cpu/byte_level.h"

#include <array>

#include "reference_cpu/utf8.h"

namespace kvtape {
namespace {

constexpr char32_t first_substitute = 0x100;
constexpr int alphabet_end = 0x100 + 68;

struct Alphabet {
    std::array<char32_t, 256> character_of_byte{};
    std::array<int, alphabet_end> byte_of_character{};  // -1: not in the alphabet

    constexpr Alphabet() {
        byte_of_character.fill(-1);
        char32_t substitute = first_substitute;
        for (int byte = 0; byte < 256; ++byte) {
            const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
            const char32_t character = printable ? static_cast<char32_t>(byte) : substitute++;
            character_of_byte[static_cast<std::size_t>(byte)] = character;
            byte_of_character[character] = byte;
        }
    }
};
constexpr Alphabet alphabet;
static_assert(alphabet.character_of_byte[' '] == 0x120);
static_assert(alphabet.character_of_byte[0xAD] == alphabet_end - 1);

}  // namespace

std::optional<std::string> byte_level_to_bytes(std::string_view written) {
    std::string bytes;
    for (std::size_t offset = 0; offset < written.size();) {
        const auto character = next_character(written, offset);
        if (!character || *character >= alphabet_end ||
            alphabet.byte_of_character[*character] < 0) {
            return {};
        }
        bytes += static_cast<char>(alphabet.byte_of_character[*character]);
    }
    return bytes;
}

std::string bytes_to_byte_level(std::string_view bytes) {
    std::string written;
    for (const char byte : bytes) {
        const char32_t character = alphabet.character_of_byte[static_cast<unsigned char>(byte)];
        if (character < 0x80) {
            written += static_cast<char>(character);
        } else {  // the alphabet ends far below U+0800, where three bytes begin
            written += static_cast<char>(0xC0 | (character >> 6));
            written += static_cast<char>(0x80 | (character & 0x3F));
        }
    }
    return written;
}

}  // namespace kvtape
