// The guide to lesson 2, the causal mask: why a row, once written, never changes.
#include <algorithm>

#include "viewer/event_search.h"
#include "viewer/guide_scripts.h"

namespace kvtape {
namespace {

// Lesson 2 follows the key of position 3, or of the last one of a shorter prompt.
std::int64_t the_position(const LaneFacts& lane) {
    return std::clamp<std::int64_t>(lane.prompt - 1, 0, 3);
}
TrackId last_layer(const LaneFacts& lane) {
    return {static_cast<std::int32_t>(lane.shape().layers - 1), 0, Kind::key};
}

void should_it_change(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t position = the_position(lane);
    page.text = say("The framed column is ", lane.token(position), ", at position ", position,
                    ". Its keys and values are kept while ",
                    lane.history->longest(lane.sequence) - position - 1,
                    " more tokens arrive.\nIn a model that reads the whole text at once, the words "
                    "after it would change what it means. Here nothing that comes later may. What "
                    "forbids it?");
    page.panel = "grid";
    page.cells = {lane.column(position)};
    page.selected = lane.id(last_layer(lane), position);
    page.move = GuideMove{lane.prefill, lane.prefill};
}

void nobody_looks_ahead(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const TrackId track{0, 0, Kind::key};
    const std::int64_t step = *lane.decode, end = lane.prompt - 1;
    page.text =
        say("The [causal mask]: the token at position p looks at the positions 0 to p and at "
            "none after it. So early rows are read by many tokens, late ones by few.\n",
            "The colours count reads. After step ", step, ", row 0 has been fetched ",
            lane.cell(step, track, 0).times_fetched, " times, the last row of the prompt ",
            lane.cell(step, track, end).times_fetched, " times.");
    page.panel = "grid";
    page.grid.by = ColourBy::reads;
    page.move = GuideMove{step, step};
}

void the_event(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t step = lane.prefill;
    const auto number = read_event(*lane.history, step, lane.sequence, {0, 0, Kind::key}, 0);
    if (!number) {
        page.text = "The first step of this tape reads no rows, so there is no line to look at.";
        return;
    }
    const Event event = lane.history->event(*number);
    const ReadRun& run =
        lane.history->step(event.step).reads[static_cast<std::size_t>(event.index)];
    const std::int64_t queries = run.query_end - run.query_begin;
    const std::int64_t keys = run.key_end - run.key_begin;
    page.text = say("The framed line of the event list is one read of step ", step, ": ", queries,
                    " queries over ", keys,
                    " keys. 'causal' is the mask: query q reads the keys 0 "
                    "to q and stops.\n",
                    "So it fetches ", run.rows_fetched(), " rows; without the mask it would be ",
                    queries, " x ", keys, " = ", queries * keys,
                    ". In the code the mask is the end of a loop, no matrix.");
    page.panel = "events";
    page.event = number;
    page.event_lane = lane.index;
    page.selected = lane.id({0, 0, Kind::key}, 0);
    page.move = GuideMove{step, step};
}

void so_it_never_changes(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t position = the_position(lane);
    const Cell cell = lane.cell(lane.last, last_layer(lane), position);
    page.text = say("What layer 0 computes at position ", position,
                    " depends on the tokens up to it. Layer 1 builds on that, layer 2 on that "
                    "again: in every layer, whatever comes later, the row stays what it was. That, "
                    "and nothing else, makes a cache correct.\n",
                    "This is the last step. The row was read ", cell.times_read,
                    " times, and written in step ", cell.written_step, " only.");
    page.panel = "inspector";
    page.selected = lane.id(last_layer(lane), position);
    page.move = GuideMove{lane.last, lane.last};
}

void the_proof(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    const std::int64_t position = the_position(forgets);
    page.text =
        say("Lane '", forgets.name(), "' computes the row anew in every step, lane '", keeps.name(),
            "' keeps it. If later tokens could change it, the two would part "
            "ways.\n",
            picks_text(forgets, keeps));
    page.panel = "grid";
    page.cells = {forgets.column(position), keeps.column(position)};
    page.selected = forgets.id(last_layer(forgets), position);
    page.move = GuideMove{*forgets.decode, std::min(*forgets.decode + 5, forgets.last), 1.5};
}

constexpr PageScript pages[] = {
    {"Should a later word not change it?", Needs::a_step, should_it_change},
    {"Nobody looks ahead", Needs::a_cache, nobody_looks_ahead},
    {"The mask on the tape", Needs::a_step, the_event},
    {"So a row never changes", Needs::a_cache, so_it_never_changes},
    {"The proof", Needs::both, the_proof},
};

}  // namespace

const LessonScript lesson_2 = {2, "The causal mask", pages};

}  // namespace kvtape
