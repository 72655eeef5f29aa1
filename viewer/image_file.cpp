#include "viewer/image_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include "core/check.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

std::string shell_quoted(const std::string& text) {
    std::string shell = "'";
    for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return shell + "'";
}

bool ends_with(const std::string& text, const char* end) {
    const std::size_t length = std::strlen(end);
    return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

}  // namespace

void write_png(const std::string& path, const Screenshot& picture) {
    errno = 0;
    if (stbi_write_png(path.c_str(), picture.width, picture.height, 4, picture.pixels.data(),
                       picture.width * 4) == 0) {
        fail("cannot write the picture ", path, ": ",
             errno != 0 ? std::strerror(errno) : "the disk may be full");
    }
}

Film::Film(const std::string& path, int width, int height, int frames_per_second)
    : path_(path), folder_(ends_with(path, "/") || fs::is_directory(path)) {
    if (folder_) {
        std::error_code error;
        fs::create_directories(path, error);
        if (error) fail("cannot make the folder ", path, ": ", error.message());
        return;
    }
    if (!ends_with(path, ".gif") && !ends_with(path, ".mp4")) {
        fail("--record is '", path, "'; use a name in .gif or .mp4, or a folder: NAME/");
    }
    if (std::system("command -v ffmpeg >/dev/null 2>&1") != 0) {
        fail(
            "films in .gif and .mp4 are made by the program ffmpeg, which is not installed; "
            "install it (Debian: ffmpeg), or record single pictures into a folder: NAME/");
    }
    log_ = path + ".log";
    // A palette for all frames keeps the colours of a GIF; even sizes are what H.264 asks for.
    const std::string how =
        ends_with(path, ".gif")
            ? "-filter_complex "
              "'split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none'"
            : "-vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p";
    const std::string command = "ffmpeg -y -loglevel error -f rawvideo -pix_fmt rgba -s " +
                                std::to_string(width) + "x" + std::to_string(height) + " -r " +
                                std::to_string(frames_per_second) + " -i - " + how + " " +
                                shell_quoted(path) + " >" + shell_quoted(log_) + " 2>&1";
    ffmpeg_ = popen(command.c_str(), "w");
    if (ffmpeg_ == nullptr) fail("cannot start ffmpeg: ", std::strerror(errno));
}

Film::~Film() {
    if (ffmpeg_ != nullptr) pclose(ffmpeg_);
}

void Film::add(const Screenshot& picture) {
    if (folder_) {
        std::string number = std::to_string(frames_);
        number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
        write_png((fs::path(path_) / ("frame_" + number + ".png")).string(), picture);
    } else {
        // If ffmpeg has ended, close() says why.
        std::fwrite(picture.pixels.data(), sizeof(Rgba), picture.pixels.size(), ffmpeg_);
    }
    ++frames_;
}

void Film::close() {
    if (folder_) return;
    const int status = pclose(std::exchange(ffmpeg_, nullptr));
    std::ifstream log(log_);
    std::string first_line;
    std::getline(log, first_line);
    std::error_code ignored;
    fs::remove(log_, ignored);
    if (status != 0) fail("ffmpeg could not make ", path_, ": ", first_line);
}

}  // namespace kvtape
