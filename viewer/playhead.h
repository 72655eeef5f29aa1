// Where in the tape we are. Time is the step and how far it has got, never the clock: a frame drawn
// at the same (step, within) looks the same.
#pragma once

#include <cstdint>

namespace kvtape {

struct Playhead {
    std::int64_t step = 0;
    double within = 1;  // [0, 1]: how much of the step has happened; 1 = all of it
    bool playing = false;
    bool stop_after_step = false;  // playing ends when the step is done
    double steps_per_second = 2;
};

// Plays on for `seconds`, on a tape of `steps` steps, and stops at its end.
void advance(Playhead& playhead, double seconds, std::int64_t steps);

// All of step `step` has happened (or the nearest there is); nothing plays.
void jump(Playhead& playhead, std::int64_t step, std::int64_t steps);
// Plays through the next step and stops; the last step is jumped to its end.
void play_one(Playhead& playhead, std::int64_t steps);
// Starts, from the beginning if everything has been played; or stops.
void toggle(Playhead& playhead, std::int64_t steps);
// The tape has grown from `steps_before` steps to `steps`. Whoever stood at its end, or played its
// last step, sees the newest one next: the picture never falls further behind the run.
void follow(Playhead& playhead, std::int64_t steps_before, std::int64_t steps);

// A step first writes its rows, layer by layer, and reads them: in the picture, writing takes the
// first part of the step and reading sweeps over the rows in the rest.
inline constexpr double writing_part = 0.35;
double share_written(double within);  // [0, 1]
double share_read(double within);     // [0, 1]

}  // namespace kvtape
