// Live mode: the panel with the prompt and the controls, and the way of the steps from the run
// (viewer/live_run.h) onto the screen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "viewer/live.h"
#include "viewer/live_run.h"
#include "viewer/viewer.h"

namespace kvtape {

// The variable KVTAPE_MODEL, or the model that ships with the source.
std::string default_live_model();

class LiveModel : public Live {
  public:
    // Runs nothing until the user starts it.
    explicit LiveModel(const std::string& model_folder = default_live_model());

    void feed(Viewer& viewer) override;
    void draw(Viewer& viewer) override;

    // What the user edits in the panel and the buttons do.

    LiveOptions options;  // of the next run
    // The paces of a run, and one of the viewer's own: a step is computed when the picture of the
    // one before has been played to its end.
    enum class Speed : std::uint8_t { with_picture, run_on, step, token, layer };
    void set_speed(Speed speed);
    void start();
    void pause();
    void go_on();
    void stop();

    // A pause that lasts until the user goes on, not only until the picture has been played.
    bool paused() const;

  private:
    bool running() const { return run_ && status_.state != LiveStatus::State::ended; }
    bool on_show(const Viewer& viewer) const;
    void put_on_show(Viewer& viewer);
    void follow(Viewer& viewer, std::int64_t steps_before);
    std::optional<PassUnderWay> pass_under_way(const Viewer& viewer) const;

    void draw_options();
    void draw_controls();
    void draw_layers(const Viewer& viewer);
    void draw_state(const Viewer& viewer);
    void draw_text();
    std::string doing() const;

    std::int64_t max_tokens_ = 40;  // 0: as many as fit
    Speed speed_ = Speed::with_picture;
    std::unique_ptr<LiveRun> run_;      // the last one that was started
    LiveStatus status_;                 // of it, as of this frame
    std::optional<TapeHeader> header_;  // of it, once it is known
    std::string wanted_tape_;           // what the user had asked for
    bool held_ = false;                 // by pause()
    bool stopping_ = false;             // by stop()
    bool waits_for_picture_ = false;    // to be played to its end
    bool fold_options_ = false;         // in the next frame
    std::int64_t times_cleared_ = 0;    // of the show, when the run was put there
};

}  // namespace kvtape
