// A float32 matrix in NumPy's .npy format, version 1.0 (numpy.lib.format), written row by row: its
// number of rows is not known until the end.
//
// The rows go to FILE.part, which becomes FILE when it is complete: a crash or a full disk never
// leaves half a file under the name that was asked for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace kvtape {

class NpyWriter {
  public:
    // Throws Error if the file exists and may not be overwritten, if FILE.part exists, or if the
    // file cannot be created.
    NpyWriter(std::string path, std::int64_t columns, bool overwrite);
    ~NpyWriter();  // removes FILE.part unless it was closed
    NpyWriter(const NpyWriter&) = delete;
    NpyWriter& operator=(const NpyWriter&) = delete;

    void add(std::span<const float> rows /* (n, columns) */);

    // Writes the number of rows and gives the file its name.
    void close();

    std::int64_t rows() const { return rows_; }

  private:
    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void write(const void* data, std::size_t bytes);
    void write_header();
    [[noreturn]] void cannot_write();

    std::string path_;
    std::string part_path_;
    std::int64_t columns_;
    std::int64_t rows_ = 0;
    std::unique_ptr<std::FILE, CloseFile> file_;  // of FILE.part; null once closed
};

}  // namespace kvtape
