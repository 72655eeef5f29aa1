// The guide to lesson 3, decoding without a cache: what a cache saves.
#include <algorithm>

#include "viewer/guide_scripts.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void everything_again(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.no_cache;
    const std::int64_t from = *lane.decode, to = std::min(from + 4, lane.last);
    page.text =
        say("To pick the next token, the model needs the keys and values of all tokens "
            "before it. If nobody kept them, they must be computed again.\n",
            "Watch lane '", lane.name(),
            "': in each step the whole text goes through the "
            "whole model, and all its columns light up. The next step knows nothing of "
            "it.");
    page.panel = "grid";
    page.cells = {lane.column(0, lane.last_position(to) + 1)};
    page.move = GuideMove{from, to, 1};
}

void how_much_is_again(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.no_cache;
    const std::int64_t step = lane.last, tokens = lane.tokens(step);
    const std::int64_t written = lane.costs(step).rows_written;
    const std::int64_t fresh = written / std::max<std::int64_t>(tokens, 1);
    page.text = say("Step ", step, " of lane '", lane.name(), "' computed ", tokens,
                    " tokens to gain one, and wrote ", written, " rows.\n", "Only ", fresh,
                    " of them belong to the new token. The other ", written - fresh,
                    " had been computed in the step before, and in the one before that.");
    page.panel = "side-by-side";
    page.move = GuideMove{step, step};
}

void with_a_cache(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    const std::int64_t from = *keeps.decode, to = std::min(from + 4, keeps.last);
    page.text =
        say("The same steps in lane '", keeps.name(), "': one column each, ",
            keeps.costs(to).rows_written, " rows in step ", to, " where lane '", forgets.name(),
            "' writes ", forgets.costs(std::min(to, forgets.last)).rows_written, ".\n",
            "It is the same decoder. It asks the cache how many tokens it holds and feeds "
            "what is missing; the cache that forgets always answers 0.");
    page.panel = "grid";
    page.cells = {keeps.columns_of(from, to)};
    page.move = GuideMove{from, to, 1};
}

void the_price(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    page.text =
        say("What does it cost? Memory. After its last step lane '", forgets.name(), "' holds ",
            short_bytes(forgets.history->step(forgets.last).kv_bytes_held), ", lane '",
            keeps.name(), "' ", short_bytes(keeps.history->step(keeps.last).kv_bytes_held),
            ".\nA cache trades memory for work. Whether that is a good trade, the next "
            "pages tell; how much memory, lesson 6.");
    page.panel = "side-by-side";
    page.move = GuideMove{keeps.last, keeps.last};
}

void same_answer(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    page.text = say("And quality? ", picks_text(forgets, keeps),
                    "\nA cache stores exactly what would be computed again. That even the rounding "
                    "is the same takes kernels whose sums have one fixed order, as those of "
                    "kvtape.");
    page.panel = "grid";
    page.cells = {forgets.column(forgets.last_position(forgets.last)),
                  keeps.column(keeps.last_position(keeps.last))};
    page.move = GuideMove{keeps.last, keeps.last};
}

void in_all(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    const std::int64_t last = std::min(forgets.last, keeps.last);
    const auto flops = [&](const LaneFacts& lane) {
        return static_cast<double>(lane.history->costs_so_far(last).flops.total());
    };
    page.text = say("After step ", last, ": ", short_number(flops(forgets)),
                    " [FLOPs] without a cache, ", short_number(flops(keeps)),
                    " with one: ", decimal(flops(forgets) / std::max(flops(keeps), 1.0), 1),
                    " times as many.\nPlay the tape and watch the two curves part. The factor has "
                    "no upper limit: it grows with every token. Lesson 5 tells how.");
    page.panel = "costs";
    page.move = GuideMove{last, last};
}

constexpr PageScript pages[] = {
    {"What exactly does a cache save?", Needs::no_cache, everything_again},
    {"How much of it is again?", Needs::no_cache, how_much_is_again},
    {"The same with a cache", Needs::both, with_a_cache},
    {"The price", Needs::both, the_price},
    {"The same answer", Needs::both, same_answer},
    {"In all", Needs::both, in_all},
};

}  // namespace

const LessonScript lesson_3 = {3, "Decoding without a cache", pages};

}  // namespace kvtape
