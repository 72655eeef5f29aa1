// The guide to lesson 5, the arithmetic: what grows how fast, with and without a cache.
#include <algorithm>

#include "viewer/guide_scripts.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

std::string ratio(std::int64_t now, std::int64_t before) {
    return decimal(
        static_cast<double>(now) / static_cast<double>(std::max<std::int64_t>(before, 1)), 2);
}
std::string flops_text(std::int64_t flops) {
    return short_number(static_cast<double>(flops));
}

void is_it_quadratic(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const Costs& sum = lane.history->costs_so_far(lane.last);
    page.text =
        say("\"Without a cache, decoding is quadratic per token.\" Is it? Let us count.\n",
            "The kernels reported what they executed: ", flops_text(sum.flops.total()),
            " [FLOPs] by lane '", lane.name(), "' up to step ", lane.last,
            ". The [closed form], from the shapes alone, gives ",
            sum.flops == sum.closed_form ? "exactly the same integer, in each of its parts."
                                         : say("another number: ", sum.closed_form.total(), "."));
    page.panel = "costs";
    page.move = GuideMove{lane.last, lane.last};
}

void with_a_cache(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t from = *lane.decode, to = lane.last;
    const FlopCounts &before = lane.costs(from).flops, &after = lane.costs(to).flops;
    page.text = say("With a cache, lane '", lane.name(), "'. From step ", from, " to step ", to,
                    " the text grew from ", lane.last_position(from) + 1, " to ",
                    lane.last_position(to) + 1, " tokens, ",
                    ratio(lane.last_position(to) + 1, lane.last_position(from) + 1), " times.\n",
                    "Projections and [MLP]: ", ratio(linear_flops(after), linear_flops(before)),
                    " times as many FLOPs. Attention: ",
                    ratio(after[Component::attention], before[Component::attention]),
                    " times.\nA step's linear part does not know how long the text is; its "
                    "attention grows with it.");
    page.panel = "costs";
    page.move = GuideMove{to, to};
}

void without_a_cache(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.no_cache;
    const std::int64_t from = *lane.decode, to = lane.last;
    const FlopCounts &before = lane.costs(from).flops, &after = lane.costs(to).flops;
    const std::int64_t short_text = lane.last_position(from) + 1;
    const std::int64_t long_text = lane.last_position(to) + 1;
    const double grown = static_cast<double>(long_text) / static_cast<double>(short_text);
    page.text =
        say("Without one, lane '", lane.name(), "'. The text grew from ", short_text, " to ",
            long_text, " tokens, ", decimal(grown, 2),
            " times.\nProjections and [MLP]: ", ratio(linear_flops(after), linear_flops(before)),
            " times, as the text itself. "
            "Attention: ",
            ratio(after[Component::attention], before[Component::attention]), " times; ",
            decimal(grown, 2), " squared is ", decimal(grown * grown, 2),
            ".\nSo per token attention is quadratic, and the rest is linear.");
    page.panel = "costs";
    page.move = GuideMove{to, to};
}

void which_part_rules(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.no_cache;
    const FlopCounts& flops = lane.costs(lane.last).flops;
    const double all = static_cast<double>(std::max<std::int64_t>(flops.total(), 1));
    page.text =
        say("Which part is the larger one? In step ", lane.last, ", over ", lane.tokens(lane.last),
            " tokens, attention is ",
            decimal(100 * static_cast<double>(flops[Component::attention]) / all, 1),
            " % of all FLOPs, projections and [MLP] ",
            decimal(100 * static_cast<double>(linear_flops(flops)) / all, 1),
            " %.\nThe slogan describes the first of the two. 'kvtape arithmetic' finds, for "
            "any model, the length at which they are equal.");
    page.panel = "costs";
    page.move = GuideMove{lane.last, lane.last};
}

void one_power_less(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts &forgets = *tape.no_cache, &keeps = *tape.cached;
    const std::int64_t last = std::min(forgets.last, keeps.last);
    const FlopCounts& without = forgets.history->costs_so_far(last).flops;
    const FlopCounts& with = keeps.history->costs_so_far(last).flops;
    page.text =
        say("Over n tokens a cache takes one factor of n from both parts: the linear one "
            "falls from n^2 to n, attention from n^3 to n^2.\n",
            "After step ", last, " the linear part is ",
            ratio(linear_flops(without), linear_flops(with)),
            " times as large without a cache, attention ",
            ratio(without[Component::attention], with[Component::attention]), " times.");
    page.panel = "costs";
    page.move = GuideMove{last, last};
}

constexpr PageScript pages[] = {
    {"Is it quadratic?", Needs::a_step, is_it_quadratic},
    {"With a cache", Needs::a_cache, with_a_cache},
    {"Without a cache", Needs::no_cache, without_a_cache},
    {"Which part rules?", Needs::no_cache, which_part_rules},
    {"One power less", Needs::both, one_power_less},
};

}  // namespace

const LessonScript lesson_5 = {5, "The arithmetic, measured", pages};

}  // namespace kvtape
