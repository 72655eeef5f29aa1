#include "viewer/pass_in_cells.h"

#include <imgui.h>

namespace kvtape {

const PassUnderWay* pass_on_show(const Viewer& viewer, std::size_t lane_index) {
    if (!viewer.pass || viewer.pass->lane != lane_index) return nullptr;
    if (viewer.pass->sequence != viewer.grid.sequence) return nullptr;
    const LaneHistory& lane = *viewer.show.lanes()[lane_index];
    const Playhead at = viewer.playhead_of(lane);
    const bool at_the_end = at.step + 1 >= lane.steps() && at.within >= 1;
    return at_the_end ? &*viewer.pass : nullptr;
}

void draw_pass_in_cells(const Viewer& viewer, const PassUnderWay& pass,
                        const GridGeometry& geometry) {
    const ModelShape& shape = viewer.show.lanes()[pass.lane]->shape();
    const Palette& palette = viewer.palette();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto corner = [&](std::int64_t position, std::int64_t layer) {
        const std::int64_t track = layer * 2 * shape.kv_heads;
        return ImVec2(static_cast<float>(geometry.left(static_cast<double>(position))),
                      static_cast<float>(geometry.top(static_cast<double>(track))));
    };
    const std::int64_t done = pass.layers_done;
    draw.AddRectFilled(corner(pass.position_begin, 0), corner(pass.position_end, done),
                       palette.written_now);
    draw.AddRectFilled(corner(pass.position_begin, done), corner(pass.position_end, shape.layers),
                       palette.empty);
    if (done < shape.layers) {
        draw.AddRect(corner(pass.position_begin, done), corner(pass.position_end, done + 1),
                     palette.written_now, 0, 0, 2 * viewer.scale);
    }
}

}  // namespace kvtape
