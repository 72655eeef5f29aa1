#include "reference_cpu/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace kvtape {
namespace {

// Closes the descriptor at the end of the scope; a mapping outlives it.
struct Descriptor {
    int fd;
    ~Descriptor() {
        if (fd >= 0) {
            close(fd);
        }
    }
};

}  // namespace

InputFile::InputFile(const std::string& path) {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0) {
        fail(path, ": cannot be opened: ", std::strerror(errno));
    }
    struct stat status = {};
    if (fstat(file.fd, &status) != 0) {
        fail(path, ": cannot be measured: ", std::strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        fail(path, ": is a folder; a file is wanted here");
    }
    if (!S_ISREG(status.st_mode)) {
        fail(path, ": is not a regular file");
    }
    const auto size_bytes = static_cast<std::size_t>(status.st_size);
    if (size_bytes == 0) {
        return;  // an empty mapping is not allowed
    }
    void* const start = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (start == MAP_FAILED) {
        fail(path, ": cannot be mapped into memory: ", std::strerror(errno));
    }
    bytes_ = {static_cast<const std::byte*>(start), size_bytes};
}

InputFile::~InputFile() {
    if (!bytes_.empty()) {
        munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
}

InputFile::InputFile(InputFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

std::string read_text_file(const std::string& path, std::int64_t largest_bytes) {
    const InputFile file(path);
    const auto size_bytes = static_cast<std::int64_t>(file.bytes().size());
    if (size_bytes > largest_bytes) {
        fail(path, ": is ", size_bytes, " bytes; at most ", largest_bytes, " are accepted here");
    }
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace kvtape
