#include "viewer/guide.h"

#include <utility>

namespace kvtape {

Guide::Guide(int number) : lesson_(lesson_script(number)) {}

void Guide::keep(GuidePage told, const Viewer& viewer) {
    page_ = std::move(told);
    times_cleared_told_ = viewer.show.times_cleared();
    lanes_told_ = viewer.show.lanes().size();
    steps_told_ = viewer.steps();
}

bool Guide::told_of(const Show& show) const {
    return times_cleared_told_ == show.times_cleared() && lanes_told_ == show.lanes().size() &&
           steps_told_ == show.steps();
}

void Guide::turn_to(Viewer& viewer, int page) {
    GuidePage told = tell(lesson_, page, viewer.show);  // throws before anything has changed
    if (moving_) finish_move(viewer);
    number_ = page;
    keep(std::move(told), viewer);
    if (page_.lacks_something) return;

    viewer.grid = page_.grid;
    viewer.selected = page_.selected;
    if (page_.selected) viewer.event_lane = page_.selected->lane;
    if (page_.event) {
        viewer.event_focus = page_.event;
        viewer.event_lane = page_.event_lane;
    }
    if (!page_.panel.empty()) viewer.visible[page_.panel] = true;
    if (!page_.move) return;
    const GuideMove& move = *page_.move;
    jump(viewer.playhead, move.from, viewer.steps());
    moving_ = move.steps_per_second > 0;
    if (!moving_) return finish_move(viewer);
    usual_speed_ = viewer.playhead.steps_per_second;
    viewer.playhead.within = 0;
    viewer.playhead.playing = true;
    viewer.playhead.steps_per_second = move.steps_per_second;
}

void Guide::finish_move(Viewer& viewer) {
    if (page_.move) jump(viewer.playhead, page_.move->to, viewer.steps());
    if (moving_) viewer.playhead.steps_per_second = usual_speed_;
    moving_ = false;
}

void Guide::advance(Viewer& viewer, double seconds) {
    if (number_ == 0) return;
    if (!told_of(viewer.show)) {
        const bool lacked_something = page_.lacks_something;
        keep(tell(lesson_, number_, viewer.show), viewer);
        if (lacked_something && !page_.lacks_something) turn_to(viewer, number_);
    }
    if (!moving_) return;
    Playhead& playhead = viewer.playhead;
    // The reader has paused or jumped, or opened a tape that lacks what would move.
    if (!playhead.playing || !page_.move) {
        playhead.steps_per_second = usual_speed_;
        moving_ = false;
        return;
    }
    const double next =
        static_cast<double>(playhead.step) + playhead.within + seconds * playhead.steps_per_second;
    if (next >= static_cast<double>(page_.move->to + 1)) finish_move(viewer);
}

void start_lesson(Viewer& viewer, int number, int page) {
    auto guide = std::make_unique<Guide>(number);
    tell(guide->lesson(), page, viewer.show);  // throws before anything has changed
    if (viewer.guide) viewer.guide->finish_move(viewer);
    viewer.guide = std::move(guide);
    viewer.guide->turn_to(viewer, page);
    viewer.visible["guide"] = true;
}

}  // namespace kvtape
