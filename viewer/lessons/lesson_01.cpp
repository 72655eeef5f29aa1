// The guide to lesson 1, one token through a layer: what is kept of it, and where.
#include <algorithm>

#include "viewer/guide_scripts.h"

namespace kvtape {
namespace {

constexpr TrackId first_key{0, 0, Kind::key};

// The step that is looked at computes one token if the tape decodes, and its last token is it.
std::int64_t step_of_token(const LaneFacts& lane) {
    return lane.decode.value_or(lane.prefill);
}
std::int64_t the_token(const LaneFacts& lane) {
    return lane.last_position(step_of_token(lane));
}

// A dozen columns, the token's among the last of them.
void look_at_columns(const LaneFacts& lane, GuidePage& page) {
    page.grid.positions = 12;
    page.grid.first_position = static_cast<double>(std::max<std::int64_t>(the_token(lane) - 9, 0));
}

void what_is_remembered(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t step = step_of_token(lane), position = the_token(lane);
    page.text = say("In step ", step, " the model has read ", lane.token(position),
                    " at [position] ", position,
                    ". Every layer made three things of it: a [query], "
                    "\"what am I looking for?\", a [key], \"what can I be found by?\", and a "
                    "[value], \"what do I have to say?\".\n",
                    "The query is used and thrown away. Key and value are kept: they are the "
                    "framed column of the [KV cache].");
    page.panel = "grid";
    page.cells = {lane.column(position)};
    page.move = GuideMove{step, step};
}

void one_column(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const ModelShape& shape = lane.shape();
    const std::int64_t step = step_of_token(lane);
    page.text = say(
        "Now closer, and again. The column fills in all layers and heads: each cell is "
        "a [row], the K or the V of one layer and one [KV head].\n",
        "2 (K and V) x ", shape.layers, " layers x ", shape.kv_heads,
        " KV heads = ", 2 * shape.layers * shape.kv_heads, " rows for a token. The tape counted ",
        lane.costs(step).rows_written / lane.tokens(step), ".");
    page.panel = "grid";
    look_at_columns(lane, page);
    page.cells = {lane.column(the_token(lane))};
    page.move = GuideMove{step, step, 0.4};
}

void one_row(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.any;
    const std::int64_t step = step_of_token(lane), position = the_token(lane);
    page.text = say("The inspector shows one row: the key of ", lane.token(position),
                    " in layer 0, KV head 0, D = ", lane.shape().head_dim,
                    " numbers.\nThe numbers themselves are not on the tape. Who wrote them, when, "
                    "and who reads them is. Click any other cell of the grid to look into it.");
    page.panel = "inspector";
    look_at_columns(lane, page);
    page.grid.tracks = static_cast<double>(2 * lane.shape().kv_heads);
    page.selected = lane.id(first_key, position);
    page.move = GuideMove{step, step};
}

// The numbers that a layer computes for a token: the list of lesson 1's program, in the same order.
void the_rest(const TapeFacts& tape, GuidePage& page) {
    const ModelShape& s = tape.any->shape();
    const std::int64_t kept = 2 * s.kv_heads * s.head_dim;
    const std::int64_t all = s.hidden + s.heads * s.head_dim + kept + s.heads * s.head_dim +
                             s.hidden + s.hidden + 2 * s.ffn + s.hidden;
    page.text = say("For one token, one layer of this model computes ", all, " numbers. It keeps ",
                    kept, " of them, 2 x G x D: ",
                    decimal(100 * static_cast<double>(kept) / static_cast<double>(all), 1),
                    " %.\nLater tokens will ask for this key and this value, and for nothing else. "
                    "The rest is gone when the step ends: nobody can look back at what the model "
                    "was doing here.");
    page.panel = "grid";
    const std::int64_t step = step_of_token(*tape.any);
    page.cells = {tape.any->column(the_token(*tape.any))};
    page.move = GuideMove{step, step};
}

void who_asks(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.cached;
    const std::int64_t step = step_of_token(lane), position = the_token(lane);
    const std::int64_t to = std::min(step + 5, lane.last);
    const Cell then = lane.cell(to, first_key, position);
    page.text =
        say("Each later token compares its query with this key. Watch 'times read': after "
            "step ",
            to, " it is ", then.times_read, ", ", lane.shape().group_size(),
            " in each step, one for each query head that shares KV head 0.\n",
            "'written in' stays at step ", then.written_step, ": the row is never touched again.");
    page.panel = "inspector";
    look_at_columns(lane, page);
    page.grid.tracks = static_cast<double>(2 * lane.shape().kv_heads);
    page.selected = lane.id(first_key, position);
    page.move = GuideMove{std::min(step + 1, to), to, 1};
}

void position_and_slot(const TapeFacts& tape, GuidePage& page) {
    const LaneFacts& lane = *tape.paged;
    const std::int64_t step = step_of_token(lane), position = the_token(lane);
    const std::int64_t slot = lane.cell(step, first_key, position).slot;
    const std::int64_t B = lane.history->lane().block_size;
    page.text =
        say("[position]: the place of a token in its text. [slot]: the row of storage where "
            "it lies. Without pages they are equal.\n",
            "Lane '", lane.name(), "' cuts storage into blocks of B = ", B, ". Position ", position,
            " is row ", slot % B, " of block ", slot / B, ": slot ", slot / B, " x ", B, " + ",
            slot % B, " = ", slot, ".");
    page.panel = "memory";
    page.selected = lane.id(first_key, position);
    page.move = GuideMove{step, step};
}

constexpr PageScript pages[] = {
    {"What does a model remember of a word?", Needs::a_step, what_is_remembered},
    {"One token, one column", Needs::a_step, one_column},
    {"One cell, one row", Needs::a_step, one_row},
    {"And the rest?", Needs::a_step, the_rest},
    {"Who will ask for it", Needs::a_cache, who_asks},
    {"Position and slot", Needs::pages, position_and_slot},
};

}  // namespace

const LessonScript lesson_1 = {1, "One token through a layer", pages};

}  // namespace kvtape
