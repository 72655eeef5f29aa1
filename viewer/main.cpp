// `kvtape view`: opens the window, or draws pictures and films without one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "viewer/image_file.h"
#include "viewer/live_model.h"
#include "viewer/offscreen.h"
#include "viewer/panel.h"
#include "viewer/pictures.h"
#include "viewer/window.h"

namespace kvtape {
namespace {

std::string panel_names() {
    std::string names;
    for (const Panel& panel : all_panels())
        names += (names.empty() ? "" : ", ") + std::string(panel.name);
    return names;
}

int view(int argc, char** argv) {
    CLI::App app("kvtape view: watch the tape of a run.", "kvtape view");
    std::vector<std::string> tapes;
    PictureOptions picture;
    WindowOptions window;
    std::optional<std::string> screenshot, record;
    std::string model = default_live_model();
    app.add_option("tapes", tapes, "tapes made by 'kvtape demo', 'run' or 'compare'")
        ->type_name("TAPE");
    app.add_option("--screenshot", screenshot, "draw one picture into FILE.png and open no window")
        ->type_name("FILE.png");
    app.add_option("--record", record, "draw a film: FILE.gif, FILE.mp4 or a folder DIR/")
        ->type_name("FILE");
    app.add_option("--step", picture.step, "the step to show (default: the last one)")
        ->type_name("N");
    app.add_option("--within", picture.within, "how much of the step has happened, 0 to 1")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--size", picture.size, "of the picture or the window")
        ->type_name("WxH")
        ->capture_default_str();
    app.add_option("--scale", picture.scale, "of fonts and distances; 2 for HiDPI")->type_name("X");
    app.add_option("--panel", picture.panel, "this panel alone: " + panel_names())
        ->type_name("NAME");
    app.add_option("--lesson", picture.lesson, "open the guide of a lesson")->type_name("N");
    app.add_option("--page", picture.page, "of the guide")->type_name("N");
    app.add_option("--colour-by", picture.colour_by, "phase, age, reads, dtype or sequence")
        ->type_name("WHAT");
    app.add_option("--cell", picture.cell, "look into this cell: layer, KV head, k or v, position")
        ->type_name("L,H,K,P");
    app.add_option("--zoom", picture.zoom,
                   "columns and lines of the grid around the cell; 1: it alone")
        ->type_name("N");
    app.add_option("--from", picture.from, "first step of a film")->type_name("N");
    app.add_option("--to", picture.to, "last step of a film")->type_name("N");
    app.add_option("--fps", picture.frames_per_second, "frames of a film in a second")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--speed", picture.steps_per_second, "steps in a second")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--model", model,
                   "folder of the model for live mode (default: the variable KVTAPE_MODEL, or the "
                   "model that ships with kvtape)")
        ->type_name("DIR");
    app.add_flag("--live", picture.live, "open the panel that runs the model");
    app.add_flag("--light", picture.light, "dark text on a light ground");
    app.footer(
        "Examples:\n"
        "  kvtape view demo.tape\n"
        "  kvtape view --live\n"
        "  kvtape view demo.tape --screenshot grid.png --step 3 --size 1280x720 --panel grid\n"
        "  kvtape view demo.tape --record demo.gif --from 0 --to 20 --fps 20");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success&) {
        std::fputs(app.help().c_str(), stdout);
        return 0;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "kvtape: view: %s; see 'kvtape view --help'\n", error.what());
        return 2;
    }
    picture.make_live = [&] { return std::make_unique<LiveModel>(model); };
    if (screenshot && record) fail("give --screenshot or --record, not both");
    if (screenshot) {
        take_screenshot(tapes, *screenshot, picture);
    } else if (record) {
        record_film(tapes, *record, picture);
    } else {
        window.size = picture.size;
        window.scale = picture.scale;
        window.light = picture.light;
        window.lesson = picture.lesson;
        window.make_live = picture.make_live;
        window.live = picture.live;
        run_window(tapes, window);
    }
    return 0;
}

}  // namespace
}  // namespace kvtape

int main(int argc, char** argv) {
    try {
        return kvtape::view(argc, argv);
    } catch (const kvtape::Error& error) {
        std::fprintf(stderr, "kvtape: %s\n", error.what());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "kvtape: out of memory; open a shorter tape\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kvtape: internal error, please report it: %s\n", error.what());
    }
    return 1;
}
