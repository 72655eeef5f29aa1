// Two ways to put the records of a tape into bytes:
//
//   JSON Lines (.jsonl)    One record is one line. Any text tool reads it.
//   CBOR sequence (.tape)  One record is one CBOR item: the record in CBOR, in a byte string with
//                          tag 24 ("encoded CBOR data item", RFC 8949 section 3.4.5.1). The byte
//                          string starts with its length, so a reader knows where a record ends
//                          before it looks inside, and whether all of it has arrived.
//
// Records that come from a file are hostile until checked: `decode_record` looks at the nesting and
// the number of values and keys before it builds anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracer/tape_format.h"

namespace kvtape {

enum class TapeEncoding : std::uint8_t { json_lines, cbor_sequence };

// The encoding that a file name asks for; throws Error unless it ends in .jsonl or .tape.
TapeEncoding encoding_of(const std::string& path);

// The bytes of one record, frame or newline included. Throws Error above max_record_bytes.
std::string encode_record(const Json& record, TapeEncoding encoding);

// Where the first record of `bytes` lies.
struct Framed {
    enum class State : std::uint8_t {
        whole,       // payload and size are known
        incomplete,  // more bytes are needed
        damaged,     // no record starts here, or it is longer than max_record_bytes
    };
    State state;
    std::string_view payload;  // the record without frame or newline
    std::size_t size = 0;      // bytes of the record, frame or newline included
};

// Looks for the end of a JSON line only from `searched` on: bytes before that are known to hold
// none.
Framed find_record(std::string_view bytes, TapeEncoding encoding, std::size_t searched = 0);

// Throws Error with a phrase if the payload is not one well-formed value within the limits.
Json decode_record(std::string_view payload, TapeEncoding encoding);

}  // namespace kvtape
