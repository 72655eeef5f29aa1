// The lessons of the guide: for each page a title, what it needs of the tape, and a function that
// tells it with the numbers of the tape on show. The pages stand in viewer/lessons/; they say what
// lessons/0N_*/README.md say, and point at it.
//
// It knows no windows.
#pragma once

#include <cstdint>
#include <span>

#include "viewer/guide_facts.h"
#include "viewer/guide_page.h"

namespace kvtape {

// A page is told only if the tape has what the page needs.
enum class Needs : std::uint8_t {
    a_step,
    a_cache,   // a lane with a cache that decodes
    no_cache,  // a lane without a cache that decodes
    both,      // of these two
    pages,     // a paged lane that decodes
};

struct PageScript {
    const char* title;
    Needs needs;
    void (*tell)(const TapeFacts& tape, GuidePage& page);
};

struct LessonScript {
    int number;
    const char* title;
    std::span<const PageScript> pages;
};

extern const LessonScript lesson_1, lesson_2, lesson_3, lesson_4, lesson_5, lesson_6;

// Throws Error if there is no such lesson.
const LessonScript& lesson_script(int number);
std::span<const LessonScript* const> all_lessons();

// Page `number` of a lesson, from 1, as told on what is on show. Throws Error if there is no such
// page.
GuidePage tell(const LessonScript& lesson, int number, const Show& show);

}  // namespace kvtape
