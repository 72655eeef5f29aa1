// What can be wrong with a tape, as four different errors. All are kvtape::Error, so a program that
// does not care prints one line; a program that does looks at `fault`.
#pragma once

#include <cstdint>
#include <string>

#include "core/check.h"

namespace kvtape {

enum class TapeFault : std::uint8_t {
    not_a_tape,     // something else: the first record is not a tape's header
    newer_version,  // written by a newer kvtape than this one
    truncated,      // ends early: the writer was stopped, or the copy is not whole
    corrupt,        // a record is damaged
};

struct TapeError : Error {
    TapeError(TapeFault which, std::int64_t at_byte, std::int64_t complete_steps,
              const std::string& message)
        : Error(message), fault(which), byte(at_byte), steps_before(complete_steps) {}

    TapeFault fault;
    std::int64_t byte;          // where the damaged record begins, or the truncated file ends
    std::int64_t steps_before;  // complete steps that precede it, and remain readable
};

}  // namespace kvtape
