// Pictures and films as files.
#pragma once

#include <memory>
#include <string>

#include "viewer/offscreen.h"

namespace kvtape {

// Throws Error unless a picture may have this name: it ends in .png, or is a device or a pipe.
void check_picture_name(const std::string& path);
// Writes a PNG. Throws Error if the file cannot be written.
void write_png(const std::string& path, const Screenshot& picture);

// Takes pictures one after another, all of one size. Where they go depends on the name: a .gif or
// .mp4 is made by the program ffmpeg; a name that ends in a slash is a folder for PNG files. Throws
// Error if ffmpeg is missing or fails, or if the file cannot be written. The program must ignore
// SIGPIPE: ffmpeg may end before it has read everything.
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
    class Ffmpeg;
    std::string folder_;  // if there is no ffmpeg_
    std::unique_ptr<Ffmpeg> ffmpeg_;
    int frames_ = 0;
};

}  // namespace kvtape
