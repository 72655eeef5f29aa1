// What the program returns to the shell. `kvtape --help` lists these.
#pragma once

namespace kvtape::exit_code {

inline constexpr int ok = 0;
inline constexpr int error = 1;  // could not be done; one line on standard error says why
inline constexpr int usage = 2;  // the command line is wrong
inline constexpr int broken_promise =
    3;                               // done, but bits, counts or accesses are not what they must be
inline constexpr int truncated = 4;  // the tape is cut; what precedes the cut was shown
inline constexpr int output_closed =
    141;  // the reader of our output left; what the shell says of SIGPIPE

}  // namespace kvtape::exit_code
