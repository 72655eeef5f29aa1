// Pictures and films as files.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "viewer/offscreen.h"

namespace kvtape {

// Writes a PNG. Throws Error if the file cannot be written.
void write_png(const std::string& path, const Screenshot& picture);

// Takes pictures one after another, all of one size. Where they go depends on the name: a .gif or
// .mp4 is made by the program ffmpeg; a name that ends in a slash is a folder for PNG files. Throws
// Error if ffmpeg is missing or fails, or if the file cannot be written.
class Film {
  public:
    Film(const std::string& path, int width, int height, int frames_per_second);
    ~Film();
    Film(const Film&) = delete;
    Film& operator=(const Film&) = delete;

    void add(const Screenshot& picture);
    // The film is complete.
    void close();

  private:
    std::string path_;
    bool folder_;
    std::FILE* ffmpeg_ = nullptr;
    std::string log_;
    int frames_ = 0;
};

}  // namespace kvtape
