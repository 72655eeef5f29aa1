#include "viewer/event_columns.h"

#include <imgui.h>
#include <algorithm>

#include "core/number_text.h"

namespace kvtape {
namespace {

float text_width(const std::string& text) {
    return ImGui::CalcTextSize(text.c_str()).x;
}

}  // namespace

std::vector<EventColumn> fitting_columns(const LaneHistory& lane, float width) {
    using What = EventColumn::What;
    const float gap = ImGui::GetFontSize() * 0.7f;
    std::int64_t longest = 0;
    for (const std::int32_t s : lane.sequences()) longest = std::max(longest, lane.longest(s));
    const std::string position = with_commas(std::max<std::int64_t>(longest - 1, 0));
    const TrackId last_track = track_id(lane.shape(), track_count(lane.shape()) - 1);
    const std::string track =
        "L" + std::to_string(last_track.layer) + " h" + std::to_string(last_track.kv_head) + " V";
    const struct {
        What what;
        const char* title;
        const char* meaning;
        std::string widest;
    } wishes[] = {
        {What::number, "event", "Counts the events of the lane from 0.",
         with_commas(lane.events() - 1)},
        {What::step, "step", "The pass in which it happened. A click goes there.",
         with_commas(lane.steps() - 1)},
        {What::kind, "what", "A write or a read of rows, or a change in the pool of blocks.",
         "write"},
        {What::track, "track", "Layer, KV head, and K or V: a line of the grid.", track},
        {What::positions, "positions", "Whose rows were written or read, in the sequence.",
         "0 to " + position},
        {What::rows, "rows", "Rows written or fetched: a causal read fetches q + 1 for query q.",
         with_commas(longest * (longest + 1) / 2)},
        {What::more, "where from, where to",
         "Slots that were written; queries and query heads that read; blocks of the pool.",
         "queries 0 to " + position + ", heads 10 to 20, causal"},
    };
    std::vector<EventColumn> columns;
    float x = gap / 2;
    for (const auto& wish : wishes) {
        const float needed = std::max(text_width(wish.title), text_width(wish.widest));
        if (!columns.empty() && x + needed > width) break;
        columns.push_back({wish.what, wish.title, wish.meaning, x, needed});
        x += needed + gap;
    }
    return columns;
}

std::string column_text(EventColumn::What what, std::int64_t number, const Event& event,
                        const EventText& text) {
    switch (what) {
        case EventColumn::What::number:
            return with_commas(number);
        case EventColumn::What::step:
            return with_commas(event.step);
        case EventColumn::What::kind:
            return text.what;
        case EventColumn::What::track:
            return text.track;
        case EventColumn::What::positions:
            return text.positions;
        case EventColumn::What::rows:
            return text.rows;
        case EventColumn::What::more:
            return text.more;
    }
    return "";
}

}  // namespace kvtape
