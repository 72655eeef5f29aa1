// The prompt of --prompt-file: any file that can be read to its end, a pipe too.
#pragma once

#include <string>

namespace kvtape {

// "-" is standard input. Throws Error if it cannot be read or is longer than a prompt may be.
std::string read_prompt_file(const std::string& path);

}  // namespace kvtape
