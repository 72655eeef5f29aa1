// The guide to lesson 6: MHA, GQA, MQA and the memory that a token needs.
#include <algorithm>

#include "tracer/cost_model.h"
#include "viewer/guide_scripts.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

constexpr std::int64_t GiB = std::int64_t{1} << 30;

std::int64_t a_step_of(const LaneFacts& lane) {
    return lane.decode.value_or(lane.prefill);
}

std::string numbers_of(const LaneFacts& lane) {
    return name(lane.history->lane().kv_cache_dtype);
}

void charged_per_token(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const ModelShape& s = lane.shape();
    const std::int64_t step = a_step_of(lane), position = lane.last_position(step);
    page.text =
        say("The weights fit with room to spare. Why does memory run out when users paste in "
            "long documents?\nThe cache is charged per token. The framed column: 2 x ",
            s.layers, " layers x ", s.kv_heads, " KV heads = ", kv_rows_per_token(s), " rows of ",
            s.head_dim, " numbers in ", numbers_of(lane), ", ", short_bytes(lane.bytes_per_token()),
            " for ", lane.token(position), ". And each user has a text of their own.");
    page.panel = "grid";
    page.cells = {lane.column(position)};
    page.grid.positions = 12;
    page.grid.first_position = static_cast<double>(std::max<std::int64_t>(position - 9, 0));
    page.move = GuideMove{step, step};
}

void the_one_factor(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const ModelShape& s = lane.shape();
    const char* layout = s.kv_heads == s.heads ? "multi-head attention ([MHA])"
                         : s.kv_heads == 1     ? "multi-query attention ([MQA])"
                                               : "grouped-query attention ([GQA])";
    const std::int64_t step = a_step_of(lane);
    page.text =
        say("G, the number of KV heads, is the factor that a designer can lower at little cost. "
            "Here H = ",
            s.heads, " query heads and G = ", s.kv_heads, ": ", layout, ". ",
            s.group_size() == 1 ? "Each query head has a K and a V of its own."
                                : say(s.group_size(), " query heads share each KV head."),
            "\nThe inspector names the query heads that use the chosen cell.");
    page.panel = "inspector";
    page.cells = {{lane.index, 0, 2 * s.kv_heads, lane.last_position(step), 1}};
    page.selected = lane.id({0, 0, Kind::key}, lane.last_position(step));
    page.grid.positions = 12;
    page.grid.first_position =
        static_cast<double>(std::max<std::int64_t>(lane.last_position(step) - 9, 0));
    page.grid.tracks = static_cast<double>(2 * s.kv_heads);
    page.move = GuideMove{step, step};
}

void read_by_many_fetched_once(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t step = a_step_of(lane);
    const Costs& costs = lane.costs(step);
    page.text = say("Step ", step, " of lane '", lane.name(), "': ", costs.rows_read,
                    " [rows read], counted per query head; ", costs.rows_fetched,
                    " [rows fetched], once for all heads of a group.\n",
                    "Fewer KV heads change only the second, and with it the ",
                    short_bytes(costs.kv_bytes_read),
                    " that come from memory. Decode is limited by memory, so this is speed as well "
                    "as space.");
    page.panel = "side-by-side";
    page.move = GuideMove{step, step};
}

void other_layouts(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const KvDtype dtype = lane.history->lane().kv_cache_dtype;
    const auto with_kv_heads = [&](std::int64_t kv_heads) {
        ModelShape shape = lane.shape();
        shape.kv_heads = kv_heads;
        const std::int64_t bytes = kv_bytes_per_token(shape, dtype);
        return say(short_bytes(bytes), ", ", 40 * GiB / bytes, " tokens");
    };
    const std::int64_t G = lane.shape().kv_heads, H = lane.shape().heads;
    page.text = "The same model with other KV heads: bytes per token, and what 40 GiB hold.\n";
    page.text += say("G = ", H, " ([MHA]): ", with_kv_heads(H), "\n");
    if (G != 1 && G != H) page.text += say("G = ", G, ", as it is: ", with_kv_heads(G), "\n");
    page.text += say("G = 1 ([MQA]): ", with_kv_heads(1), "\n");
    page.text += "Nothing fails at startup. It fails when the long document arrives.";
    page.panel = "memory";
    const std::int64_t step = a_step_of(lane);
    page.move = GuideMove{step, step};
}

void what_is_set_aside(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t row_bytes =
        lane.shape().head_dim * bytes_per_element(lane.history->lane().kv_cache_dtype);
    const auto held = [&](const LaneFacts& of) {
        return short_bytes(of.history->step(of.last).kv_bytes_held);
    };
    page.text = say("After step ", lane.last, " lane '", lane.name(), "' has rows of ",
                    short_bytes(lane.history->playback().rows_in_cache(lane.last) * row_bytes),
                    " in it, but holds ", held(lane), ".\n");
    const std::int64_t most = lane.history->header().max_model_len;
    if (lane.history->lane().cache == "contiguous" && most > 0) {
        page.text += say("It was made for the longest text there may be, ", most, " tokens. ");
    }
    if (tape.paged) {
        page.text += say("Lane '", tape.paged->name(), "' takes a block of ",
                         tape.paged->history->lane().block_size,
                         " tokens when it needs one, so at most the rest of a block is idle: it "
                         "holds ",
                         held(*tape.paged), ".");
    } else {
        page.text += "A paged cache would take a block when it needs one; this tape has none.";
    }
    page.panel = "memory";
    page.move = GuideMove{lane.last, lane.last};
}

constexpr PageScript pages[] = {
    {"Why does memory run out?", Needs::a_step, charged_per_token},
    {"The one factor to turn", Needs::a_step, the_one_factor},
    {"Read by many, fetched once", Needs::a_step, read_by_many_fetched_once},
    {"Other numbers of heads", Needs::a_step, other_layouts},
    {"Held, and in use", Needs::a_cache, what_is_set_aside},
};

}  // namespace

const LessonScript lesson_6 = {6, "Heads and footprint", pages};

}  // namespace kvtape
