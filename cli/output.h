// Where the program's words go. Results go to standard output, everything else to standard error,
// so that output can be piped. A write that fails is noticed: a full disk must not look like
// success.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/check.h"

namespace kvtape {

// The command line asks for something that makes no sense; main adds a hint at --help.
struct UsageError : Error {
    using Error::Error;
};

// The reader of our output has left, as `head` does. Nothing is wrong, and nobody is there to tell.
struct OutputClosed : std::runtime_error {
    OutputClosed() : std::runtime_error("standard output was closed") {}
};

// Writes all of `text` to standard output at once. Throws OutputClosed, or Error if that fails in
// another way (disk full).
void print(std::string_view text);

// One line on standard error: "kvtape: <message>". Line breaks and control characters within the
// message, which may quote a file or an option, are shown as escapes.
void say(std::string_view message);

// `text` with line breaks, control characters and bytes that are not UTF-8 made visible.
std::string escaped(std::string_view text);

bool stdout_is_terminal();

// Columns of the terminal; 80 if there is none, and never outside [40, 120].
int terminal_columns();

}  // namespace kvtape
