#include "cli/npy.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/check.h"

namespace kvtape {
namespace {

static_assert(std::endian::native == std::endian::little, "the header says '<f4'");

// Wide enough for the longest shape, so that the header can be written anew in place. The format
// wants a multiple of 64.
constexpr std::size_t header_bytes = 128;

}  // namespace

NpyWriter::NpyWriter(std::string path, std::int64_t columns, bool overwrite)
    : path_(std::move(path)), part_path_(path_ + ".part"), columns_(columns) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path_, ignored);
    if (fs::exists(status) && !overwrite) {
        fail(path_, " exists already; use another name, or --overwrite");
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        fail(path_, " is not an ordinary file and will not be replaced; use another name");
    }
    file_.reset(std::fopen(part_path_.c_str(), "wbx"));
    if (!file_ && errno == EEXIST) {
        fail(part_path_, " is in the way, perhaps left by a run that was interrupted; remove it");
    }
    if (!file_) {
        fail("cannot create ", path_, ": ", std::strerror(errno),
             "; choose a folder that is there and that you may write to");
    }
    try {
        write_header();
    } catch (...) {
        std::remove(part_path_.c_str());
        throw;
    }
}

NpyWriter::~NpyWriter() {
    if (file_) std::remove(part_path_.c_str());
}

void NpyWriter::add(std::span<const float> rows) {
    KVTAPE_CHECK(std::ssize(rows) % columns_, ==, 0);
    write(rows.data(), rows.size_bytes());
    rows_ += std::ssize(rows) / columns_;
}

void NpyWriter::close() {
    if (std::fseek(file_.get(), 0, SEEK_SET) != 0) cannot_write();
    write_header();
    // fclose writes what is still buffered; only then is the file known to be whole.
    if (std::fclose(file_.release()) != 0 || std::rename(part_path_.c_str(), path_.c_str()) != 0) {
        const int error = errno;
        std::remove(part_path_.c_str());
        errno = error;
        cannot_write();
    }
}

void NpyWriter::write_header() {
    // Magic, version, length of the text; then the text, padded and ended by a newline.
    constexpr std::size_t text_begin = 10;
    constexpr std::size_t text_bytes = header_bytes - text_begin;
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(text_bytes);
    header += '\0';
    header += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows_) + ", " +
              std::to_string(columns_) + "), }";
    header.resize(header_bytes - 1, ' ');
    header += '\n';
    write(header.data(), header.size());
}

void NpyWriter::write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_.get()) != bytes) cannot_write();
}

void NpyWriter::cannot_write() {
    fail("cannot write ", path_, ": ", std::strerror(errno), "; nothing was left there");
}

}  // namespace kvtape
