// The guide to lesson 4: prefill fills the cache, decode appends to it.
#include <algorithm>
#include <vector>

#include "viewer/guide_scripts.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void a_pause_and_a_rush(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t prefills = lane.last_prefill - lane.prefill + 1;
    page.text =
        say("Ask a chat something: it pauses, then the words come in a rush. The strip above "
            "the slider shows why.\n",
            "Blue is [prefill], the pass over the prompt: here ", prefills,
            prefills == 1 ? " step. " : " steps. ",
            "Orange is [decode], a step for each new token. It is one function, called with "
            "different numbers of tokens.");
    page.panel = "transport";
    page.move = GuideMove{lane.prefill, lane.prefill};
}

void prefill_fills(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t step = lane.prefill;
    page.text =
        say("The prompt is there already, so its tokens go through the model side by side. "
            "Step ",
            step, " computes ", lane.tokens(step), " tokens and writes ",
            lane.costs(step).rows_written, " rows at once, in every layer and head.\n",
            lane.last_prefill == step ? "It yields" : "All steps of prefill yield",
            " a single new token. You wait for it: that is the pause.");
    page.panel = "grid";
    page.cells = {lane.column(0, lane.last_position(step) + 1)};
    page.move = GuideMove{step, step, 0.4};
}

void decode_appends(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t from = *lane.decode, to = std::min(from + 5, lane.last);
    page.text = say("Each decode step takes the token just picked and appends its column: ",
                    lane.costs(from).rows_written, " rows in step ", from, ", ",
                    lane.costs(to).rows_written, " in step ", to,
                    ".\nThen the sweep of 'being read': every row written so far, for one "
                    "token. Step ",
                    to, " fetches ", lane.costs(to).rows_fetched, " rows to write ",
                    lane.costs(to).rows_written, ".");
    page.panel = "grid";
    page.cells = {lane.columns_of(from, to)};
    page.move = GuideMove{from, to, 1};
}

void read_more_and_more(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t from = *lane.decode, to = lane.last;
    page.text =
        say("In lane '", lane.name(),
            "', [rows written] is the same in every decode step: ", lane.costs(to).rows_written,
            ".\n[rows read] grew from ", lane.costs(from).rows_read, " in step ", from, " to ",
            lane.costs(to).rows_read, " in step ", to, ". Each of the ", lane.shape().heads,
            " query heads of all ", lane.shape().layers,
            " layers reads one more K and one more V than in the step "
            "before.");
    page.panel = "side-by-side";
    page.move = GuideMove{to, to};
}

void compute_and_memory(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t fill = lane.prefill, append = lane.last;
    const auto per_token = [&](std::int64_t step, std::int64_t all) {
        return static_cast<double>(all) /
               static_cast<double>(std::max<std::int64_t>(lane.tokens(step), 1));
    };
    const auto flops = [&](std::int64_t step) {
        return short_number(per_token(step, lane.costs(step).flops.total()));
    };
    const auto bytes = [&](std::int64_t step) {
        return short_bytes(
            static_cast<std::int64_t>(per_token(step, lane.costs(step).kv_bytes_read)));
    };
    page.text = say("For each token: ", flops(fill), " [FLOPs] and ", bytes(fill),
                    " of K and V read in step ", fill, "; ", flops(append), " and ", bytes(append),
                    " in step ", append, ", and more bytes with each step.\n",
                    "The tokens of prefill share one reading of the weights, too. A decode step "
                    "reads them all for one token. So prefill is limited by arithmetic, decode by "
                    "memory.");
    page.panel = "costs";
    page.move = GuideMove{append, append};
}

void two_numbers(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    std::int64_t first = 0;
    for (std::int64_t step = lane.prefill; step < *lane.decode; ++step) {
        first += lane.costs(step).wall_ns;
    }
    std::vector<std::int64_t> between;
    for (std::int64_t step = *lane.decode; step <= lane.last; ++step) {
        between.push_back(lane.costs(step).wall_ns);
    }
    const auto middle = between.begin() + std::ssize(between) / 2;
    std::nth_element(between.begin(), middle, between.end());
    const auto seconds = [](std::int64_t ns) { return duration(static_cast<double>(ns) * 1e-9); };
    page.text = say("[TTFT], the pause: ", seconds(first), " for ", lane.prompt, " tokens.\n",
                    "[ITL], from token to token: ", seconds(*middle), ", the median of ",
                    std::ssize(between), " steps.\n",
                    "One average of both would tell of neither. In a long answer the second creeps "
                    "upward: each step reads more.");
    page.panel = "latency";
    page.move = GuideMove{lane.last, lane.last};
}

constexpr PageScript pages[] = {
    {"Why a pause, and then a rush?", Needs::a_step, a_pause_and_a_rush},
    {"Prefill fills", Needs::a_step, prefill_fills},
    {"Decode appends", Needs::a_cache, decode_appends},
    {"Little to write, much to read", Needs::a_cache, read_more_and_more},
    {"Arithmetic or memory", Needs::a_cache, compute_and_memory},
    {"Two times, not one", Needs::a_cache, two_numbers},
};

}  // namespace

const LessonScript lesson_4 = {4, "Prefill fills, decode appends", pages};

}  // namespace kvtape
