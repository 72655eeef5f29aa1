#include "viewer/pictures.h"

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/check.h"
#include "viewer/image_file.h"
#include "viewer/offscreen.h"

namespace kvtape {
namespace {

// A viewer with the tapes open and everything set.
std::unique_ptr<Offscreen> make_stage(const StageOptions& options) {
    const bool live = options.live || options.panel == "live";
    if (options.tapes.empty() && !live) {
        fail("no tape to draw; give a tape, 'kvtape demo' makes one");
    }
    const Size size = parse_size(options.size);
    const double scale =
        options.scale.value_or(std::clamp(std::floor(size.width / 1280.0 * 2) / 2, 1.0, 8.0));
    auto stage = std::make_unique<Offscreen>(size.width, size.height, static_cast<float>(scale),
                                             !options.light);
    Viewer& viewer = stage->viewer();
    for (const std::string& tape : options.tapes) viewer.show.open(tape);
    viewer.show.stop_following();  // all pictures are of the same steps
    if (viewer.steps() == 0 && !live) fail("there is nothing to draw: ", no_steps(viewer));
    for (const OpenTape& tape : viewer.show.tapes()) {
        if (!tape.remark.empty()) std::fprintf(stderr, "kvtape: note: %s\n", tape.remark.c_str());
    }
    viewer.show.take_errors();  // said; no message stands before the picture
    set_stage(viewer, options, Time::stands);
    return stage;
}

// One line that is drawn over itself, on a terminal only.
class Progress {
  public:
    explicit Progress(std::int64_t all) : all_(all) {}
    // An error message, too, begins on a line of its own.
    ~Progress() {
        if (shown_) std::fputc('\n', stderr);
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::int64_t done) {
        if (isatty(STDERR_FILENO) == 0) return;
        constexpr int width = 40;
        const auto full = static_cast<std::size_t>(done * width / all_);
        std::fprintf(stderr, "\r\033[K[%s%s] %lld of %lld frames", std::string(full, '#').c_str(),
                     std::string(width - full, '.').c_str(), static_cast<long long>(done),
                     static_cast<long long>(all_));
        shown_ = true;
    }

  private:
    std::int64_t all_;
    bool shown_ = false;
};

}  // namespace

void take_screenshot(const std::string& path, const StageOptions& options) {
    check_picture_name(path);
    write_png(path, make_stage(options)->draw());
}

void record_film(const std::string& path, const StageOptions& options, const FilmOptions& film) {
    if (film.frames_per_second < 1 || film.frames_per_second > 120) {
        fail("--fps is ", film.frames_per_second, "; use 1 to 120");
    }
    const auto stage = make_stage(options);
    Viewer& viewer = stage->viewer();
    if (viewer.steps() == 0) fail("there is nothing to film: ", no_steps(viewer));
    const std::int64_t from = check_step("--from", film.from.value_or(0), viewer);
    const std::int64_t to = check_step("--to", film.to.value_or(viewer.steps() - 1), viewer);
    if (to < from) fail("--to is ", to, ", which is before --from ", from);

    const Size size = parse_size(options.size);
    Film file(path, size.width, size.height, film.frames_per_second);
    const double per_frame = options.steps_per_second / film.frames_per_second;
    const auto frames =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(to - from + 1) / per_frame)) + 1;
    Progress progress(frames);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const double at = static_cast<double>(from) + static_cast<double>(frame) * per_frame;
        jump(viewer.playhead, std::min(static_cast<std::int64_t>(at), to), viewer.steps());
        viewer.playhead.within = std::min(at - static_cast<double>(viewer.playhead.step), 1.0);
        file.add(stage->draw());
        progress.show(frame + 1);
    }
    file.close();
}

}  // namespace kvtape
