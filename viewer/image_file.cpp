#include "viewer/image_file.h"

#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include "core/check.h"
#include "viewer/new_file.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

std::string shell_quoted(const std::string& text) {
    std::string shell = "'";
    for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return shell + "'";
}

// In a folder where nobody keeps anything.
class TemporaryFile {
  public:
    TemporaryFile() : path_((fs::temp_directory_path() / "kvtape_XXXXXX").string()) {
        const int file = mkstemp(path_.data());
        if (file < 0) fail("cannot make a temporary file: ", std::strerror(errno));
        ::close(file);
    }
    ~TemporaryFile() { ::unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

    std::string first_line() const {
        std::ifstream file(path_);
        std::string line;
        std::getline(file, line);
        return line;
    }

  private:
    std::string path_;
};

void append_bytes(void* bytes, void* more, int count) {
    static_cast<std::string*>(bytes)->append(static_cast<const char*>(more),
                                             static_cast<std::size_t>(count));
}

}  // namespace

void check_picture_name(const std::string& path) {
    std::error_code none;
    const fs::file_status there = fs::status(path, none);
    if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there)) return;
    if (!path.ends_with(".png")) {
        fail("--screenshot is '", path, "'; pictures are PNG files: use a name in .png");
    }
}

void write_png(const std::string& path, const Screenshot& picture) {
    std::string png;
    if (stbi_write_png_to_func(append_bytes, &png, picture.width, picture.height, 4,
                               picture.pixels.data(), picture.width * 4) == 0) {
        throw std::bad_alloc();
    }
    write_new_file(path, png);
}

// The program that makes films, at the other end of a pipe.
class Film::Ffmpeg {
  public:
    Ffmpeg(const std::string& path, int width, int height, int frames_per_second)
        : path_(path), film_(path) {
        // A palette for all frames keeps the colours of a GIF; even sizes are what H.264 asks for.
        const std::string how =
            path.ends_with(".gif")
                ? "-filter_complex 'split[a][b];[a]palettegen=stats_mode=diff[p];"
                  "[b][p]paletteuse=dither=none' -f gif"
                : "-vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p -f mp4";
        // Without "file:", a:b.gif would be taken for an address of the protocol a.
        const std::string command = "ffmpeg -y -loglevel error -f rawvideo -pix_fmt rgba -s " +
                                    std::to_string(width) + "x" + std::to_string(height) + " -r " +
                                    std::to_string(frames_per_second) + " -i - " + how + " " +
                                    shell_quoted("file:" + film_.unfinished()) + " >" +
                                    shell_quoted(log_.path()) + " 2>&1";
        pipe_ = popen(command.c_str(), "w");
        if (pipe_ == nullptr) fail("cannot start ffmpeg: ", std::strerror(errno));
    }
    ~Ffmpeg() { end(); }
    Ffmpeg(const Ffmpeg&) = delete;
    Ffmpeg& operator=(const Ffmpeg&) = delete;

    void add(const Screenshot& picture) {
        const std::size_t pixels = picture.pixels.size();
        if (std::fwrite(picture.pixels.data(), sizeof(Rgba), pixels, pipe_) != pixels) refuse();
    }

    void close() {
        const bool all_sent = std::fflush(pipe_) == 0;
        // It may end well after an error, such as a disk that was full for the last frame.
        if (!end() || !all_sent || !log_.first_line().empty()) refuse();
        film_.finish();
    }

  private:
    // Waits for it. Returns whether it made the film.
    bool end() { return pipe_ == nullptr || pclose(std::exchange(pipe_, nullptr)) == 0; }

    [[noreturn]] void refuse() {
        end();                                       // then its log is whole
        const std::string said = log_.first_line();  // later ones follow from it
        fail("ffmpeg could not make ", path_, ": ", said.empty() ? "it does not say why" : said);
    }

    std::string path_;
    NewFile film_;
    TemporaryFile log_;
    std::FILE* pipe_ = nullptr;
};

Film::Film(const std::string& path, int width, int height, int frames_per_second) {
    std::error_code error;
    if (path.ends_with("/") || fs::is_directory(path, error)) {
        folder_ = path;
        fs::create_directories(path, error);
        if (error) fail("cannot make the folder ", path, ": ", error.message());
        return;
    }
    if (!path.ends_with(".gif") && !path.ends_with(".mp4")) {
        fail("--record is '", path, "'; use a name in .gif or .mp4, or a folder: NAME/");
    }
    if (std::system("command -v ffmpeg >/dev/null 2>&1") != 0) {
        fail(
            "films in .gif and .mp4 are made by the program ffmpeg, which is not installed; "
            "install it (Debian: ffmpeg), or record single pictures into a folder: NAME/");
    }
    ffmpeg_ = std::make_unique<Ffmpeg>(path, width, height, frames_per_second);
}

Film::~Film() = default;

void Film::add(const Screenshot& picture) {
    if (ffmpeg_) return ffmpeg_->add(picture);
    std::string number = std::to_string(frames_++);
    number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
    write_png((fs::path(folder_) / ("frame_" + number + ".png")).string(), picture);
}

void Film::close() {
    if (ffmpeg_) ffmpeg_->close();
}

}  // namespace kvtape
