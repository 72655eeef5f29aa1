// The lessons, told on the tape: a page of text, what it points at, a move to a step, and a wait
// for the reader. The pages come from viewer/guide_scripts.h; here is where we are in them.
#pragma once

#include <cstdint>
#include <string_view>

#include "viewer/guide_scripts.h"

namespace kvtape {

class Guide {
  public:
    // The script of lesson `number`. Throws Error if there is none. Nothing is told before the
    // first turn_to.
    explicit Guide(int number);

    const LessonScript& lesson() const { return lesson_; }
    int page_number() const { return number_; }  // from 1; 0 before the first turn_to
    int pages() const { return static_cast<int>(lesson_.pages.size()); }
    const GuidePage& page() const { return page_; }
    bool points_at(std::string_view panel) const { return !panel.empty() && page_.panel == panel; }

    // Shows page `page`, counted from 1, with the playhead where it wants it: at the beginning, if
    // it plays. Throws Error if there is no such page.
    void turn_to(Viewer& viewer, int page);

    // Ends the move of the page: all that it plays has been played.
    void finish_move(Viewer& viewer);

    // Called before the playhead moves on by `seconds`: stops it where the page's move ends. The
    // page is told anew if what is on show has changed.
    void advance(Viewer& viewer, double seconds);

  private:
    void keep(GuidePage told, const Viewer& viewer);
    bool told_of(const Show& show) const;

    const LessonScript& lesson_;
    int number_ = 0;
    GuidePage page_;
    // What was on show when the page was told: which tapes, and how much of them.
    std::int64_t times_cleared_told_ = 0;
    std::size_t lanes_told_ = 0;
    std::int64_t steps_told_ = 0;
    bool moving_ = false;     // the page plays, and the reader has not interfered
    double usual_speed_ = 2;  // of the playhead, before the page's move
};

// Opens the guide at a page, and its panel. Throws Error if there is no such lesson or page; then
// nothing has changed.
void start_lesson(Viewer& viewer, int number, int page = 1);

// The lessons as entries of a menu; choosing one starts it.
void draw_guide_menu(Viewer& viewer);

}  // namespace kvtape
