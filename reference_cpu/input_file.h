// Files given by the user: opened, measured, and refused with one line if that fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kvtape {

// A file mapped into memory, read-only. The pages are read from disk when they are touched.
class InputFile {
  public:
    InputFile() = default;
    // Throws Error unless `path` is a regular file that can be read.
    explicit InputFile(const std::string& path);
    ~InputFile();
    InputFile(InputFile&& other) noexcept;
    InputFile& operator=(InputFile&& other) noexcept;

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

// The whole file. Throws Error if it is longer than `largest_bytes`.
std::string read_text_file(const std::string& path, std::int64_t largest_bytes);

}  // namespace kvtape
