// The window itself, on a display in memory (Xvfb), moved by real key and mouse events (xdotool).
// What it shows is read back from the screen (xwd).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "support/drop_file.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/layout.h"
#include "viewer/offscreen.h"
#include "viewer/palette.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

bool has_command(const char* name) {
    return std::system(("command -v " + std::string(name) + " >/dev/null 2>&1").c_str()) == 0;
}

// A program that runs until it is told to stop.
class Child {
  public:
    explicit Child(const std::function<void()>& become) : pid_(fork()) {
        if (pid_ == 0) {
            become();
            _exit(127);
        }
    }
    ~Child() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The exit code, or none if it still runs after `seconds`.
    std::optional<int> wait(double seconds) {
        for (int i = 0; i < static_cast<int>(seconds * 50); ++i) {
            int status = 0;
            if (waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return std::nullopt;
    }

  private:
    pid_t pid_;
};

class WindowTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* tool : {"Xvfb", "xdotool", "xwd"}) {
            if (!has_command(tool)) GTEST_SKIP() << "the window's tests need the program " << tool;
        }
        // Xvfb takes a free display and writes its number.
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        server_ = std::make_unique<Child>([&] {
            const std::string out = std::to_string(ends[1]);
            execlp("Xvfb", "Xvfb", "-displayfd", out.c_str(), "-screen", "0", "1280x720x24",
                   "-nolisten", "tcp", nullptr);
        });
        close(ends[1]);
        std::string number;
        char c = 0;
        while (read(ends[0], &c, 1) == 1 && c != '\n') number += c;
        close(ends[0]);
        ASSERT_NE(number, "");
        display_ = ":" + number;
        write_tape(tape_, folder_ / "t.tape");
    }

    void start(std::vector<std::string> arguments = {"t.tape"}) {
        window_ = std::make_unique<Child>([&] {
            setenv("DISPLAY", display_.c_str(), 1);
            setenv("HOME", folder_.path().c_str(), 1);
            unsetenv("WAYLAND_DISPLAY");
            unsetenv("XDG_CONFIG_HOME");
            setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
            if (chdir(folder_.path().c_str()) != 0) _exit(126);
            std::string program = KVTAPE_BINARY_DIR "/viewer/kvtape-view";
            std::vector<char*> argv = {program.data()};
            for (std::string& argument : arguments) argv.push_back(argument.data());
            argv.push_back(nullptr);
            execv(program.c_str(), argv.data());
        });
    }

    void xdotool(const std::string& words) {
        ASSERT_EQ(std::system(("DISPLAY=" + display_ + " xdotool " + words).c_str()), 0) << words;
    }

    // What stands on the screen.
    Screenshot screen() {
        const std::string file = folder_ / "screen.xwd";
        const std::string command =
            "DISPLAY=" + display_ + " xwd -root -silent -out '" + file + "' 2>/dev/null";
        if (std::system(command.c_str()) != 0) return {};
        const std::string bytes = read_file(file);
        // The header is big-endian words: size, version, format, depth, width, height, ..., and at
        // 12 bytes per line, at 19 the number of colours, each of 12 bytes.
        const auto word = [&](std::size_t i) {
            std::uint32_t value = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                value = value << 8 | static_cast<unsigned char>(bytes[4 * i + k]);
            }
            return value;
        };
        Screenshot picture{static_cast<int>(word(4)), static_cast<int>(word(5)), {}};
        const std::size_t per_line = word(12);
        const std::size_t begin = word(0) + 12 * std::size_t{word(19)};
        for (int y = 0; y < picture.height; ++y) {
            for (int x = 0; x < picture.width; ++x) {
                unsigned char bgr[4];
                std::memcpy(bgr,
                            &bytes[begin + static_cast<std::size_t>(y) * per_line +
                                   4 * static_cast<std::size_t>(x)],
                            4);
                picture.pixels.push_back(rgb(bgr[2], bgr[1], bgr[0]));
            }
        }
        return picture;
    }

    // How many cells of each lane are lit, by the colours on the screen. The place of the cells is
    // that of a picture drawn without a window.
    std::vector<std::int64_t> lit_cells() {
        Offscreen stage(1280, 720, 1);
        put_on_show(tape_, stage.viewer().show);
        stage.draw();
        const Screenshot picture = screen();
        const Palette& palette = dark_palette;
        std::vector<std::int64_t> lit;
        for (std::size_t lane = 0; lane < tape_.caches.size(); ++lane) {
            const GridGeometry& geometry = stage.viewer().grids.at(lane);
            lit.push_back(0);
            for (std::int64_t track = 0; track < track_count(tape_.shape); ++track) {
                for (std::int64_t p = 0; p < tape_.prompt + tape_.decode_steps; ++p) {
                    const auto x = static_cast<int>(geometry.left(static_cast<double>(p) + 0.5));
                    const auto y = static_cast<int>(geometry.top(static_cast<double>(track) + 0.5));
                    const auto at = static_cast<std::size_t>(y * picture.width + x);
                    if (at >= picture.pixels.size()) return {};
                    const Rgba colour = picture.pixels[at];
                    lit.back() += colour == palette.prefill || colour == palette.decode ||
                                  colour == palette.written_now;
                }
            }
        }
        return lit;
    }

    // Looks until every lane shows that many positions in all of its lines, or for ten seconds.
    void expect_lit_columns(std::int64_t expected) {
        const std::vector<std::int64_t> cells(tape_.caches.size(),
                                              expected * track_count(tape_.shape));
        std::vector<std::int64_t> lit;
        for (int i = 0; i < 100 && lit != cells; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            lit = lit_cells();
        }
        EXPECT_EQ(lit, cells);
    }

    SyntheticTape tape_;
    TestFolder folder_;
    std::string display_;
    std::unique_ptr<Child> server_, window_;
};

TEST_F(WindowTest, IsPlayedSteppedScrubbedAndClosedByKeysAndMouse) {
    start();
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    xdotool("key Home");
    expect_lit_columns(tape_.prompt);  // prefill is done
    xdotool("key Right");
    expect_lit_columns(tape_.prompt + 1);
    xdotool("key End");
    expect_lit_columns(tape_.prompt + tape_.decode_steps);
    xdotool("key Home");
    expect_lit_columns(tape_.prompt);
    xdotool("key space");  // plays to the end
    expect_lit_columns(tape_.prompt + tape_.decode_steps);
    // The slider of steps lies at the bottom; its left end is the first step.
    xdotool("mousemove 14 700 mousedown 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    xdotool("mouseup 1");
    expect_lit_columns(tape_.prompt);

    // 1 x 1 is as near to nothing as X lets a window come; frames_test.cpp has 0 x 0.
    for (const char* size : {"800 500", "1 1", "1280 720"}) {
        xdotool("search --name kvtape windowsize " + std::string(size));
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    expect_lit_columns(tape_.prompt);

    xdotool("key ctrl+q");
    EXPECT_EQ(window_->wait(10), 0);
}

TEST_F(WindowTest, OpensAFileThatIsDroppedOnIt) {
#ifndef KVTAPE_HAS_X11
    GTEST_SKIP() << "built without libX11, which drops the file";
#else
    start({});
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    ASSERT_TRUE(drop_file(display_, folder_ / "t.tape", "kvtape"));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    xdotool("key End");
    expect_lit_columns(tape_.prompt + tape_.decode_steps);
    xdotool("key ctrl+q");
    EXPECT_EQ(window_->wait(10), 0);
#endif
}

TEST_F(WindowTest, FollowsATapeThatIsBeingWritten) {
    TapeWriter writer(folder_ / "growing.tape", tape_.header(), Overwrite::yes);
    const auto write = [&](std::int64_t step) {
        for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, step));
    };
    start({"growing.tape"});  // there is its header, and no step
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    write(0);
    write(1);
    expect_lit_columns(tape_.prompt + 1);
    for (std::int64_t step = 2; step < tape_.steps(); ++step) write(step);
    expect_lit_columns(tape_.prompt + tape_.decode_steps);
}

// What the window is told on the command line is what a picture is told.
TEST_F(WindowTest, StandsAtTheStepThatItIsStartedWith) {
    start({"t.tape", "--step", "2"});
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    expect_lit_columns(tape_.prompt + 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // more than a step at this speed
    expect_lit_columns(tape_.prompt + 2);
}

TEST_F(WindowTest, RemembersItsLayout) {
    start({"t.tape", "--light"});
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    xdotool("key Home");
    // The title of Side by side, 20 pixels to the right and 30 down.
    xdotool("mousemove 200 300 mousedown 1");
    for (const char* to : {"210 315", "220 330"}) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        xdotool("mousemove " + std::string(to));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    xdotool("mouseup 1");
    xdotool("key ctrl+q");
    ASSERT_EQ(window_->wait(10), 0);
    const Layout layout = read_layout(read_file(folder_ / ".config/kvtape/viewer.layout"));
    EXPECT_FALSE(layout.dark);
    ASSERT_EQ(layout.moved.size(), 1u);
    const Rect& part = layout.moved.at("side-by-side");
    EXPECT_NEAR(part.x * 1280, 20, 2);
    EXPECT_TRUE(layout.visible.at("costs"));

    start();  // and is still light
    xdotool("search --sync --onlyvisible --name kvtape windowmove 0 0 windowfocus");
    Rgba menu = 0;
    for (int i = 0; i < 100 && menu != light_palette.frame; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const Screenshot picture = screen();
        if (picture.width == 1280) menu = picture.pixels[10 * 1280 + 1000];
    }
    EXPECT_EQ(menu, light_palette.frame);
}

// PC-TV-10: a display whose X server has no GLX.
TEST_F(WindowTest, WithoutOpenGlSaysWhatIsMissing) {
    server_.reset();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    server_ = std::make_unique<Child>([&] {
        const std::string out = std::to_string(ends[1]);
        execlp("Xvfb", "Xvfb", "-displayfd", out.c_str(), "-extension", "GLX", "-screen", "0",
               "640x480x24", nullptr);
    });
    close(ends[1]);
    std::string number;
    char c = 0;
    while (read(ends[0], &c, 1) == 1 && c != '\n') number += c;
    close(ends[0]);
    const auto result = run_program(
        "/usr/bin/env", {"DISPLAY=:" + number, KVTAPE_BINARY_DIR "/viewer/kvtape-view", "t.tape"},
        folder_.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("--screenshot"));
}

}  // namespace
}  // namespace kvtape
