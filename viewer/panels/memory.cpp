// Where the rows lie. A paged lane: the pool with all its blocks, and above it the block table of
// the sequence on show, with an arrow from each logical block to the physical one. A contiguous
// lane: all positions that are set aside, of which some hold rows.
#include <imgui.h>
#include <algorithm>

#include "tracer/cost_model.h"
#include "viewer/flow.h"
#include "viewer/panel.h"
#include "viewer/pool_widget.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// A lane that is paged has the most to show.
std::size_t lane_on_show(const Viewer& viewer) {
    const auto& lanes = viewer.show.lanes();
    if (viewer.memory.lane < lanes.size()) return viewer.memory.lane;
    for (const char* cache : {"paged", "contiguous"}) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (lanes[i]->lane().cache == cache) return i;
        }
    }
    return 0;
}

std::string part_of(std::int64_t part, std::int64_t all) {
    return with_commas(part) + " of " + with_commas(all);
}

std::string percent(std::int64_t part, std::int64_t all) {
    return all == 0 ? "0 %"
                    : decimal(100 * static_cast<double>(part) / static_cast<double>(all), 1) + " %";
}

void draw_lane_choice(Viewer& viewer, std::size_t lane, Flow& flow) {
    const std::size_t count = viewer.show.lanes().size();
    if (count < 2) return;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(lane_title(viewer, i));
    const std::size_t chosen =
        flow.choice("##lane", lane, names, "The lane whose storage is shown.");
    if (chosen != lane) viewer.memory.lane = chosen;
}

void draw_waste(const Viewer& viewer, const LaneHistory& lane, const Storage& storage,
                const char* where, Flow& flow) {
    const std::int64_t rows = storage.rows_wasted();
    const std::int64_t row_bytes =
        lane.shape().head_dim * bytes_per_element(lane.lane().kv_cache_dtype);
    const std::string share = percent(rows, storage.rows_set_aside());
    const bool wide = ImGui::GetContentRegionAvail().x > ImGui::GetFontSize() * 30;
    flow.swatch(wasted_colour(viewer.palette()),
                (wide ? "waste " + with_commas(rows) + " rows, " : std::string("waste ")) +
                    short_bytes(rows * row_bytes) + ", " + share,
                viewer.palette().text,
                std::string("Set aside, but without a row ") + where + ": " +
                    part_of(rows, storage.rows_set_aside()) + " rows (" + share + "), that is " +
                    with_commas(rows * row_bytes) + " bytes. A slot has room for " +
                    with_commas(storage.rows_of_slot) +
                    " rows: K and V of each layer and KV head.");
}

void draw_paged_numbers(const Viewer& viewer, const LaneHistory& lane, const Storage& storage,
                        Flow& flow) {
    const Palette& palette = viewer.palette();
    flow.text(part_of(storage.held(), storage.units_in_all) + " blocks", palette.text,
              "Blocks that a sequence holds, of those in the pool. B = " +
                  with_commas(storage.slots_of_unit) + " slots each, " +
                  short_bytes(kv_bytes_per_block(lane.shape(), lane.lane().kv_cache_dtype,
                                                 storage.slots_of_unit)) +
                  ".");
    flow.swatch(free_colour(palette), with_commas(storage.free()) + " free", palette.text,
                "Blocks on the free list: nobody holds them.");
    draw_waste(viewer, lane, storage, "yet, in blocks that are held", flow);
    const std::int64_t shared = storage.shared();
    flow.text(with_commas(shared) + " shared", shared > 0 ? palette.text : palette.faint_text,
              shared > 0 ? "Blocks with more than one holder; outlined."
                         : "Blocks with more than one holder: none at this step. Sequences that "
                           "begin alike could share their first blocks.");
}

void draw_contiguous_numbers(const Viewer& viewer, const LaneHistory& lane, const Storage& storage,
                             Flow& flow) {
    const std::int64_t reserved = storage.held() * storage.slots_of_unit;
    flow.text(part_of(storage.rows_held / storage.rows_of_slot, reserved) + " positions",
              viewer.palette().text,
              "Positions with rows, of those set aside: max_model_len = " +
                  with_commas(storage.slots_of_unit) +
                  " for each sequence, from its first token on.");
    draw_waste(viewer, lane, storage, "yet, up to max_model_len", flow);
}

}  // namespace

void draw_memory(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const CompactControls compact(viewer.scale);
    const std::size_t index = lane_on_show(viewer);
    const LaneHistory& lane = *viewer.show.lanes()[index];
    Flow flow(ImGui::GetFontSize() * 0.7f);
    draw_lane_choice(viewer, index, flow);
    if (lane.steps() == 0) {
        ImGui::TextDisabled("This lane has no step yet.");
        return;
    }
    if (lane.lane().cache == "none") {
        ImGui::PushTextWrapPos(0);
        ImGui::Text(
            "Holds nothing between steps. This step computes all %s rows anew, reads them and "
            "drops them.",
            with_commas(lane.costs(viewer.step_of(lane)).rows_written).c_str());
        ImGui::PopTextWrapPos();
        return;
    }
    MemoryView& memory = viewer.memory;
    const bool changed =
        memory.picture.update(lane, viewer.playhead_of(lane), track_on_show(viewer, index),
                              viewer.grid.by, viewer.palette(), viewer.dark);
    const Storage& storage = memory.picture.storage();
    if (storage.paged) {
        draw_paged_numbers(viewer, lane, storage, flow);
    } else {
        draw_contiguous_numbers(viewer, lane, storage, flow);
    }
    draw_pool(viewer, index, ImGui::GetContentRegionAvail(), changed);
}

}  // namespace kvtape
