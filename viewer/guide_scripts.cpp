#include "viewer/guide_scripts.h"

#include "core/check.h"

namespace kvtape {
namespace {

// What the tape lacks for a page, or null.
const char* lacks(Needs needs, const TapeFacts& tape) {
    if (!tape.any) return "a step";
    const bool wants_cache = needs == Needs::a_cache || needs == Needs::both;
    const bool wants_none = needs == Needs::no_cache || needs == Needs::both;
    if (wants_none && !tape.no_cache) return "a lane that decodes without a cache";
    if (wants_cache && !tape.cached) return "a lane that decodes with a cache";
    if (needs == Needs::pages && !tape.paged) return "a lane that decodes with a paged cache";
    return nullptr;
}

}  // namespace

std::span<const LessonScript* const> all_lessons() {
    static constexpr const LessonScript* lessons[] = {&lesson_1, &lesson_2, &lesson_3,
                                                      &lesson_4, &lesson_5, &lesson_6};
    return lessons;
}

const LessonScript& lesson_script(int number) {
    for (const LessonScript* lesson : all_lessons()) {
        if (lesson->number == number) return *lesson;
    }
    fail("there is no lesson ", number, " in the guide; it has 1 to ", all_lessons().size());
}

GuidePage tell(const LessonScript& lesson, int number, const Show& show) {
    if (number < 1 || number > std::ssize(lesson.pages)) {
        fail("the guide of lesson ", lesson.number, " has no page ", number, "; it has 1 to ",
             lesson.pages.size());
    }
    const PageScript& script = lesson.pages[static_cast<std::size_t>(number - 1)];
    const TapeFacts tape(show);
    GuidePage page;
    page.title = script.title;
    if (const char* missing = lacks(script.needs, tape)) {
        page.lacks_something = true;
        page.text = say("This page is about ", missing, ", and what is on show has none.\n",
                        "'kvtape demo' makes a tape with all that the lessons need. You can go on "
                        "to the next page.");
    } else {
        page.grid.sequence = tape.any->sequence;
        script.tell(tape, page);
    }
    if (number == std::ssize(lesson.pages)) {
        page.text += say("\nThe whole text and an exercise: kvtape lesson ", lesson.number, ".");
    }
    return page;
}

}  // namespace kvtape
