#include "tracer/utf8.h"

#include <cstddef>

namespace kvtape {
namespace {

struct Piece {
    std::size_t bytes;  // of a whole character, or of the part that can be no character
    bool whole;
};

// What the first bytes of a non-empty text are. A cut character is one piece as far as it goes.
Piece first_piece(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {1, true};
    if (lead < 0xc2 || lead > 0xf4) return {1, false};

    const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    for (std::size_t i = 1; i < length; ++i) {
        unsigned low = 0x80, high = 0xbf;
        if (i == 1) {  // the second byte rules out overlong forms, surrogates and > U+10FFFF
            if (lead == 0xe0) low = 0xa0;
            if (lead == 0xed) high = 0x9f;
            if (lead == 0xf0) low = 0x90;
            if (lead == 0xf4) high = 0x8f;
        }
        if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    }
    return {length, true};
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const Piece piece = first_piece(bytes);
        if (!piece.whole) return false;
        bytes.remove_prefix(piece.bytes);
    }
    return true;
}

std::string printable(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const Piece piece = first_piece(bytes);
        text += piece.whole ? bytes.substr(0, piece.bytes) : std::string_view("\xef\xbf\xbd");
        bytes.remove_prefix(piece.bytes);
    }
    return text;
}

}  // namespace kvtape
