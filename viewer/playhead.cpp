#include "viewer/playhead.h"

#include <algorithm>
#include <cmath>

namespace kvtape {

void advance(Playhead& playhead, double seconds, std::int64_t steps) {
    if (!playhead.playing || steps == 0) return;
    const double last = static_cast<double>(steps);  // the end of the last step
    double end = last;
    if (playhead.stop_after_step) end = static_cast<double>(playhead.step + 1);
    const double now = static_cast<double>(playhead.step) + playhead.within;
    const double next = std::min(now + seconds * playhead.steps_per_second, end);

    // The end of a step is the beginning of the next; at the end of all it stays the end.
    playhead.step = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(next)), 0,
                                             static_cast<std::int64_t>(end) - 1);
    playhead.within = next - static_cast<double>(playhead.step);
    if (next >= end) {
        playhead.playing = false;
        playhead.stop_after_step = false;
    }
}

void jump(Playhead& playhead, std::int64_t step, std::int64_t steps) {
    playhead.step = std::clamp<std::int64_t>(step, 0, std::max<std::int64_t>(steps - 1, 0));
    playhead.within = 1;
    playhead.playing = false;
    playhead.stop_after_step = false;
}

void play_one(Playhead& playhead, std::int64_t steps) {
    if (playhead.within >= 1 && playhead.step + 1 >= steps) return;
    if (playhead.within >= 1) {
        playhead.step += 1;
        playhead.within = 0;
    }
    playhead.playing = true;
    playhead.stop_after_step = true;
}

void toggle(Playhead& playhead, std::int64_t steps) {
    playhead.stop_after_step = false;
    if (playhead.playing) {
        playhead.playing = false;
        return;
    }
    if (playhead.step + 1 >= steps && playhead.within >= 1) {
        playhead.step = 0;
        playhead.within = 0;
    }
    playhead.playing = steps > 0;
}

void follow(Playhead& playhead, std::int64_t steps_before, std::int64_t steps) {
    const bool at_end =
        playhead.step + 1 >= steps_before && (playhead.playing || playhead.within >= 1);
    if (steps <= steps_before || (steps_before > 0 && !at_end)) return;
    jump(playhead, steps - 1, steps);
    playhead.within = 0;
    playhead.playing = true;
}

double share_written(double within) {
    return std::clamp(within / writing_part, 0.0, 1.0);
}

double share_read(double within) {
    return std::clamp((within - writing_part) / (1 - writing_part), 0.0, 1.0);
}

}  // namespace kvtape
