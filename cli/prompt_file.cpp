#include "cli/prompt_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/check.h"

namespace kvtape {
namespace {

constexpr std::size_t largest_prompt_bytes = 64 << 20;

struct CloseFile {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

}  // namespace

std::string read_prompt_file(const std::string& path) {
    const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin
                                                                 : std::fopen(path.c_str(), "rb"));
    if (!file) {
        fail("--prompt-file ", path, " cannot be opened: ", std::strerror(errno),
             "; give a text file, or - for standard input");
    }
    std::string text;
    char chunk[1 << 16];
    while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
        text.append(chunk, count);
        if (text.size() > largest_prompt_bytes) {
            fail("--prompt-file ", path, " is longer than ", largest_prompt_bytes,
                 " bytes; that is no prompt");
        }
    }
    if (std::ferror(file.get())) {
        fail("--prompt-file ", path, " cannot be read: ", std::strerror(errno),
             "; give a text file, or - for standard input");
    }
    return text;
}

}  // namespace kvtape
