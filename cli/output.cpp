#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tracer/utf8.h"

namespace kvtape {

void print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw OutputClosed();
        } else if (errno != EINTR) {
            fail("cannot write to standard output: ", std::strerror(errno));
        }
    }
}

void say(std::string_view message) {
    std::fprintf(stderr, "kvtape: %s\n", escaped(message).c_str());
}

std::string escaped(std::string_view text) {
    std::string visible;
    for (const char c : printable(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            visible += "\\n";
        } else if (c == '\t') {
            visible += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", byte);
            visible += code;
        } else {
            visible += c;
        }
    }
    return visible;
}

bool stdout_is_terminal() {
    return isatty(STDOUT_FILENO) == 1;
}

int terminal_columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return std::clamp<int>(size.ws_col, 40, 120);
}

}  // namespace kvtape
