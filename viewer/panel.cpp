#include "viewer/panel.h"

namespace kvtape {

std::span<const Panel> all_panels() {
    static constexpr Panel panels[] = {
        {"grid", "Cache grid",
         "Every row of the cache: a line per layer, KV head and K or V, a column per token.",
         draw_cache_grid},
        {"side-by-side", "Side by side", "What each decoder did in this step, and so far.",
         draw_side_by_side},
        {"memory", "Memory",
         "Where the rows lie: blocks, block tables, what is free, what is wasted.", draw_memory},
        {"costs", "Costs", "FLOPs and bytes, measured, beside their closed forms.", draw_costs},
        {"latency", "Latency",
         "Time to the first token and from token to token, apart, over the length of the cache.",
         draw_latency},
        {"inspector", "Inspector", "All that is known of one cell.", draw_inspector},
        {"events", "Events", "Every write, read and pool event on the tape.", draw_events},
        {"guide", "Guide", "The lessons, told on the tape.", draw_guide},
        {"live", "Live", "Run the model and watch it decode.", draw_live},
        {"transport", "Transport", "Play, step and scrub.", draw_transport},
    };
    return panels;
}

std::string panel_names() {
    std::string names;
    for (const Panel& panel : all_panels()) {
        names += (names.empty() ? "" : ", ") + std::string(panel.name);
    }
    return names;
}

}  // namespace kvtape
