#include "viewer/new_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/check.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, int error) {
    fail("cannot write ", path, ": ", std::strerror(error), "; ",
         error == ENOSPC || error == EDQUOT
             ? "free some space, or write elsewhere"
             : "choose a name in a folder that is there and that you may write to");
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path), unfinished_(path) {
    std::error_code none;
    const fs::file_status there = fs::status(path, none);
    if (fs::is_directory(there)) refuse(path, EISDIR);
    if (fs::exists(there) && ::access(path.c_str(), W_OK) != 0) refuse(path, errno);
    if (fs::exists(there) && !fs::is_regular_file(there)) return;
    // A link stays one: what it leads to is replaced.
    if (fs::is_symlink(path, none)) {
        const fs::path target = fs::canonical(path, none);
        if (!none) path_ = target.string();
    }
    unfinished_ = path_ + "." + std::to_string(::getpid()) + ".part";
    const int file = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) refuse(path, errno);
    ::close(file);
}

NewFile::~NewFile() {
    if (unfinished_ != path_) ::unlink(unfinished_.c_str());
}

void NewFile::finish() {
    if (unfinished_ == path_) return;
    if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
    unfinished_ = path_;
}

void write_new_file(const std::string& path, const std::string& bytes) {
    NewFile file(path);
    std::FILE* const out = std::fopen(file.unfinished().c_str(), "wb");
    if (out == nullptr) refuse(path, errno);
    int error = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size() ? 0 : errno;
    // Only now is written what was still in memory.
    if (std::fclose(out) != 0 && error == 0) error = errno;
    if (error != 0) refuse(path, error);
    file.finish();
}

}  // namespace kvtape
