// Does the viewer stay smooth on a large tape? A synthetic run of 32 layers, 8 KV heads and 4,096
// tokens (2.1 million rows, 4.2 million runs) is written to a file, opened, and drawn without a
// screen (the time to build a frame's draw data) and by OpenGL in software.
//
//   open     from the file to the first step on show             target: under 3 s
//   frame    median draw data of the default layout, each frame at another step, and while playing
//            within a step                                       target: under 4 ms, one core
//   events   the event list alone, scrolled to another row in each frame
//   memory   of the process, over that of the steps in memory    target: below 3
//   pool     median draw data of the memory panel with 20,000 full blocks, each frame at another
//            step: beyond what the targets are for, to see how far it carries
//
//   kvtape_viewer_bench [--json] [--tokens N]
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "bench/contest.h"
#include "bench/synthetic_tape.h"
#include "core/check.h"
#include "tracer/tape_writer.h"
#include "viewer/offscreen.h"

namespace kvtape::bench {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    statm >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

// What the steps of a tape take in memory, as they are.
std::int64_t bytes_of(const LaneHistory& lane) {
    std::int64_t bytes = 0;
    for (std::int64_t i = 0; i < lane.steps(); ++i) {
        const Step& step = lane.step(i);
        bytes += static_cast<std::int64_t>(sizeof(Step));
        bytes += std::ssize(step.writes) * static_cast<std::int64_t>(sizeof(WriteRun));
        bytes += std::ssize(step.reads) * static_cast<std::int64_t>(sizeof(ReadRun));
        for (const SpanRecord& span : step.spans) {
            bytes += static_cast<std::int64_t>(sizeof(SpanRecord)) +
                     std::ssize(span.tokens) * static_cast<std::int64_t>(sizeof(TokenText));
        }
    }
    return bytes;
}

double seconds_to_build_frame(Viewer& viewer) {
    const double begin = thread_seconds();
    ImGui::NewFrame();
    viewer.frame(0);
    ImGui::Render();
    return thread_seconds() - begin;
}

template <class Change>
double median_frame(Viewer& viewer, int frames, const Change& change) {
    std::vector<double> seconds;
    for (int i = 0; i < frames; ++i) {
        change(i);
        seconds.push_back(seconds_to_build_frame(viewer));
    }
    return median(seconds);
}

// One sequence that fills a pool of 20,000 blocks of 16.
double seconds_of_the_pool(Viewer& viewer) {
    SyntheticTape tape;
    tape.block_size = 16;
    tape.decode_steps = 100;
    tape.prompt = 20'000 * tape.block_size - tape.decode_steps;
    tape.caches = {"paged"};
    viewer.close_all();
    LaneHistory& lane = viewer.show.add_lane(tape.header(), 0);
    for (std::int64_t i = 0; i < tape.steps(); ++i) lane.add(tape.step(0, i));
    viewer.only_panel = "memory";
    const std::int64_t steps = viewer.steps();
    return median_frame(viewer, 21, [&](int i) { jump(viewer.playhead, steps - 1 - i, steps); });
}

int run(bool json, std::int64_t tokens) {
    SyntheticTape tape;
    tape.shape = {32, 4096, 32, 8, 128, 14336, 128256};
    tape.prompt = tokens / 2;
    tape.decode_steps = tokens - tape.prompt;
    tape.caches = {"contiguous"};
    const std::string path =
        (std::filesystem::temp_directory_path() / "kvtape_viewer_bench.tape").string();
    {
        TapeWriter writer(path, tape.header(), Overwrite::yes);
        for (std::int64_t i = 0; i < tape.steps(); ++i) writer.write(tape.step(0, i));
        writer.close();
    }

    Offscreen stage(1280, 720, 1);
    Viewer& viewer = stage.viewer();
    stage.draw();
    const std::int64_t before = resident_bytes();
    const double open_begin = thread_seconds();
    viewer.show.open(path);
    jump(viewer.playhead, 0, viewer.steps());
    const double opened = thread_seconds() - open_begin;
    const std::int64_t memory = resident_bytes() - before;
    const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    std::filesystem::remove(path);
    const LaneHistory& lane = *viewer.show.lanes().front();
    const std::int64_t in_memory = bytes_of(lane);

    stage.draw();  // fonts, windows
    const std::int64_t steps = viewer.steps();
    const double stepping = median_frame(
        viewer, 101, [&](int i) { jump(viewer.playhead, steps - 1 - (i * 37) % steps, steps); });
    const double playing = median_frame(viewer, 101, [&](int i) {
        jump(viewer.playhead, steps - 1, steps);
        viewer.playhead.within = i / 101.0;
    });
    std::vector<double> with_opengl;
    for (int i = 0; i < 11; ++i) {
        jump(viewer.playhead, steps - 1 - i, steps);
        const double begin = thread_seconds();
        stage.draw();
        with_opengl.push_back(thread_seconds() - begin);
    }
    viewer.only_panel = "events";
    const double events = median_frame(viewer, 101, [&](int i) {
        viewer.event_lane = 0;
        viewer.event_focus = (lane.events() - 1) * i / 100;
    });

    const std::int64_t event_count = lane.events();
    const double pool = seconds_of_the_pool(viewer);

    const double ratio = static_cast<double>(memory) / static_cast<double>(in_memory);
    const bool met = opened < 3 && stepping < 4e-3 && playing < 4e-3 && events < 4e-3 && ratio < 3;
    const Json result = {{"tokens", tokens},
                         {"rows", kv_rows_per_token(tape.shape) * tokens},
                         {"events", event_count},
                         {"file_bytes", file_bytes},
                         {"steps_in_memory_bytes", in_memory},
                         {"open_seconds", opened},
                         {"frame_at_another_step_ms", stepping * 1e3},
                         {"frame_while_playing_ms", playing * 1e3},
                         {"frame_of_the_event_list_ms", events * 1e3},
                         {"three_frames_and_software_opengl_ms", median(with_opengl) * 1e3},
                         {"frame_of_a_full_pool_ms", pool * 1e3},
                         {"memory_ratio", ratio},
                         {"targets_met", met}};
    if (json) {
        std::cout << result.dump(2) << "\n";
    } else {
        for (const auto& [name, value] : result.items()) {
            std::printf("  %-38s %s\n", name.c_str(), value.dump().c_str());
        }
    }
    return met ? 0 : 1;
}

}  // namespace
}  // namespace kvtape::bench

int main(int argc, char** argv) {
    bool json = false;
    std::int64_t tokens = 4096;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--json") {
            json = true;
        } else if (std::string_view(argv[i]) == "--tokens" && i + 1 < argc) {
            tokens = std::max(2L, std::strtol(argv[++i], nullptr, 10));
        } else {
            std::fprintf(stderr, "usage: %s [--json] [--tokens N]\n", argv[0]);
            return 2;
        }
    }
    try {
        kvtape::bench::stay_on_this_core();
        return kvtape::bench::run(json, tokens);
    } catch (const kvtape::Error& error) {
        std::fprintf(stderr, "viewer_bench: %s\n", error.what());
        return 1;
    }
}
