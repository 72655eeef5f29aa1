#include "viewer/live_model.h"

#include <cstdlib>

namespace kvtape {
namespace {

// A story for the shipped model, which remembers numbers.
constexpr const char* first_prompt =
    "One day, Jack went to the farm.\n"
    "He had a white kite. Mia has 4821.\n"
    "Then the wind took the kite away.\n"
    "Who has what? Mia has";

Pace pace_of(LiveModel::Speed speed) {
    using Speed = LiveModel::Speed;
    switch (speed) {
        case Speed::run_on:
            return Pace::run_on;
        case Speed::token:
            return Pace::token;
        case Speed::layer:
            return Pace::layer;
        case Speed::with_picture:
        case Speed::step:
            break;
    }
    return Pace::step;
}

}  // namespace

std::string default_live_model() {
    const char* const chosen = std::getenv("KVTAPE_MODEL");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    return KVTAPE_SOURCE_DIR "/models/storyteller";
}

LiveModel::LiveModel(const std::string& model_folder) {
    options.model = model_folder;
    options.prompt = first_prompt;
}

void LiveModel::set_speed(Speed speed) {
    speed_ = speed;
    if (run_) run_->set_pace(pace_of(speed));
}

void LiveModel::start() {
    options.max_tokens.reset();
    if (max_tokens_ != 0) options.max_tokens = max_tokens_;
    wanted_tape_ = options.tape;
    run_.reset();
    header_.reset();
    held_ = stopping_ = false;
    fold_options_ = true;
    run_ = std::make_unique<LiveRun>(options, pace_of(speed_));
    status_ = run_->status();
}

void LiveModel::pause() {
    held_ = true;
    if (run_) run_->pause();
}

void LiveModel::go_on() {
    held_ = false;
    if (run_) run_->go_on();
}

void LiveModel::stop() {
    stopping_ = true;
    if (run_) run_->stop();
}

bool LiveModel::paused() const {
    return run_ && status_.state == LiveStatus::State::paused &&
           (held_ || speed_ != Speed::with_picture);
}

// A tape that was dropped on the window takes the place of the run, which goes on all the same.
bool LiveModel::on_show(const Viewer& viewer) const {
    return header_ && viewer.show.times_cleared() == times_cleared_;
}

void LiveModel::put_on_show(Viewer& viewer) {
    viewer.close_all();
    times_cleared_ = viewer.show.times_cleared();
    for (std::int32_t lane = 0; lane < std::ssize(header_->lanes); ++lane) {
        viewer.show.add_lane(*header_, lane);
    }
}

void LiveModel::feed(Viewer& viewer) {
    if (!run_) return;
    // In this order: all steps before a pause are there when the pause is seen, and the header is
    // when a step is.
    status_ = run_->status();
    std::vector<Step> steps = run_->take_steps();
    if (!header_ && (header_ = run_->header())) put_on_show(viewer);
    if (on_show(viewer)) {
        const std::int64_t steps_before = viewer.steps();
        for (Step& step : steps) {
            viewer.show.lanes()[static_cast<std::size_t>(step.lane)]->add(std::move(step));
        }
        follow(viewer, steps_before);
    }
    viewer.pass = pass_under_way(viewer);
    const Playhead& at = viewer.playhead;
    const bool played = at.step + 1 >= viewer.steps() && at.within >= 1 && !at.playing;
    const bool waits = status_.state == LiveStatus::State::paused && !paused();
    waits_for_picture_ = waits && !played && on_show(viewer);
    if (waits && !waits_for_picture_) run_->go_on();
}

// None if it was finished since its progress was asked for.
std::optional<PassUnderWay> LiveModel::pass_under_way(const Viewer& viewer) const {
    const PaceGate::Progress& now = status_.progress;
    if (!running() || !now.in_pass || now.position_end == 0 || !on_show(viewer)) return {};
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < header_->lanes.size(); ++i) {
        steps += viewer.show.lanes()[i]->steps();
    }
    if (steps != status_.steps) return {};
    return PassUnderWay{static_cast<std::size_t>(now.lane), 0, now.position_begin, now.position_end,
                        now.layers_done};
}

// The playhead goes to the newest step, unless the user has moved it back.
void LiveModel::follow(Viewer& viewer, std::int64_t steps_before) {
    const std::int64_t steps = viewer.steps();
    Playhead& playhead = viewer.playhead;
    if (steps == steps_before || playhead.step + 1 < steps_before) return;
    jump(playhead, steps - 1, steps);
    if (speed_ == Speed::run_on) return;
    playhead.within = 0;
    playhead.playing = playhead.stop_after_step = true;
}

}  // namespace kvtape
