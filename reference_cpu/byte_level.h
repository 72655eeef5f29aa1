// The byte-level alphabet of GPT-2: how a tokenizer.json writes pieces that are not text.
//
// A piece of byte-level BPE is any string of bytes, often half of a character, but a JSON file can
// only hold text. So each of the 256 bytes is written as one printable character: a printable byte
// as the Latin-1 character of that number ('A' as "A"), and the 68 others, in ascending order, as
// U+0100, U+0101, ... A space becomes U+0120, which is why vocabularies are full of "Ġ".
//
// kvtape undoes this when it loads the file and works on bytes from there on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kvtape {

// The bytes that a piece stands for, or nothing if it holds a character outside the alphabet (as
// special tokens do, which are ordinary text). `written` must be valid UTF-8.
std::optional<std::string> byte_level_to_bytes(std::string_view written);

// The reverse: the piece as a tokenizer.json writes it, in UTF-8.
std::string bytes_to_byte_level(std::string_view bytes);

}  // namespace kvtape
