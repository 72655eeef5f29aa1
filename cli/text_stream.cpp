#include "cli/text_stream.h"

#include <algorithm>

#include "tracer/utf8.h"

namespace kvtape {
namespace {

// Bytes of the character that starts with `lead`, or 0 if none does.
std::size_t character_bytes(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

// Where the character that is cut off by the end of `bytes` begins; bytes.size() if none is.
std::size_t begin_of_cut_character(std::string_view bytes) {
    const std::size_t longest_part = std::min<std::size_t>(bytes.size(), 3);
    for (std::size_t back = 1; back <= longest_part; ++back) {
        const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
        if ((byte & 0xc0) == 0x80) continue;  // a continuation: its lead stands before it
        return character_bytes(byte) > back ? bytes.size() - back : bytes.size();
    }
    return bytes.size();
}

}  // namespace

std::string TextStream::add(std::string_view bytes) {
    held_back_ += bytes;
    const std::size_t cut = begin_of_cut_character(held_back_);
    const std::string text = printable(std::string_view(held_back_).substr(0, cut));
    held_back_.erase(0, cut);
    return text;
}

std::string TextStream::finish() {
    const std::string text = printable(held_back_);
    held_back_.clear();
    return text;
}

}  // namespace kvtape
