// `kvtape view`: opens the window, or draws pictures and films without one.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include "core/check.h"
#include "core/parse_number.h"
#include "viewer/live_model.h"
#include "viewer/panel.h"
#include "viewer/pictures.h"
#include "viewer/window.h"

namespace kvtape {
namespace {

template <class Value>
void read(const std::string& option, const std::string& text, Value& value) {
    if (text.empty()) fail(option, " is empty; give it a value");
    if constexpr (std::is_arithmetic_v<Value>) {
        value = parse_number<Value>(option, text);
    } else {
        value = text;
    }
}

template <class Value>
void read(const std::string& option, const std::string& text, std::optional<Value>& value) {
    read(option, text, value.emplace());
}

// An option that takes a value of the kind that help calls `kind`. CLI11 alone would read "010" as
// 8 and "" as if the option were not there.
template <class Value>
CLI::Option* add(CLI::App& app, const std::string& name, const std::string& kind, Value& value,
                 const std::string& purpose) {
    const auto parse = [&value, name](const std::string& text) {
        try {
            read(name, text, value);
        } catch (const Error& error) {
            throw CLI::ValidationError(error.what());
        }
    };
    return app.add_option_function<std::string>(name, parse, purpose)->type_name(kind);
}

template <class Value>
CLI::Option* add_with_default(CLI::App& app, const std::string& name, const std::string& kind,
                              Value& value, const std::string& purpose) {
    std::ostringstream shown;
    shown << value;
    return add(app, name, kind, value, purpose)->default_str(shown.str());
}

int view(int argc, char** argv) {
    CLI::App app("kvtape view: watch the tape of a run.", "kvtape view");
    StageOptions stage;
    FilmOptions film;
    std::optional<std::string> screenshot, record;
    std::string model = default_live_model();
    app.add_option("tapes", stage.tapes, "tapes made by 'kvtape demo', 'run' or 'compare'")
        ->type_name("TAPE");
    CLI::Option* const of_picture = add(app, "--screenshot", "FILE.png", screenshot,
                                        "draw one picture into FILE.png and open no window");
    CLI::Option* const of_film =
        add(app, "--record", "FILE", record, "draw a film: FILE.gif, FILE.mp4 or a folder DIR/");
    add(app, "--step", "N", stage.step,
        "the step to show (default: the last one; a window plays from the first)")
        ->excludes(of_film);
    add(app, "--within", "X", stage.within,
        "how much of the step has happened, 0 to 1 (default: 1, all of it)")
        ->excludes(of_film);
    add_with_default(app, "--size", "WxH", stage.size, "of the picture or the window");
    add(app, "--scale", "X", stage.scale, "of fonts and distances; 2 for HiDPI");
    add(app, "--panel", "NAME", stage.panel, "this panel alone: " + panel_names());
    add(app, "--lesson", "N", stage.lesson, "open the guide of a lesson");
    add(app, "--page", "N", stage.page, "of the guide");
    add(app, "--colour-by", "WHAT", stage.colour_by,
        "phase, age, reads, dtype or sequence (default: phase)");
    add(app, "--cell", "L,H,K,P", stage.cell,
        "look into this cell: layer, KV head, k or v, position");
    add(app, "--zoom", "N", stage.zoom,
        "columns and lines of the grid around the cell; 1: it alone");
    add(app, "--from", "N", film.from, "first step of a film")->needs(of_film);
    add(app, "--to", "N", film.to, "last step of a film")->needs(of_film);
    add_with_default(app, "--fps", "N", film.frames_per_second, "frames of a film in a second")
        ->needs(of_film);
    add_with_default(app, "--speed", "X", stage.steps_per_second, "steps in a second")
        ->excludes(of_picture);
    add(app, "--model", "DIR", model,
        "folder of the model for live mode (default: the variable KVTAPE_MODEL, or the model that "
        "ships with kvtape)");
    app.add_flag("--live", stage.live, "open the panel that runs the model");
    app.add_flag("--light", stage.light, "dark text on a light ground");
    app.footer(
        "Examples:\n"
        "  kvtape view demo.tape\n"
        "  kvtape view --live\n"
        "  kvtape view demo.tape --screenshot grid.png --step 3 --size 1280x720 --panel grid\n"
        "  kvtape view demo.tape --record demo.gif --from 0 --to 20 --fps 20");
    try {
        app.parse(argc, argv);
        if (screenshot && record) {
            throw CLI::ValidationError("give --screenshot or --record, not both");
        }
    } catch (const CLI::Success&) {
        std::fputs(app.help().c_str(), stdout);
        return 0;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "kvtape: view: %s; see 'kvtape view --help'\n", error.what());
        return 2;
    }
    check(stage);
    stage.make_live = [&] { return std::make_unique<LiveModel>(model); };
    if (screenshot) {
        take_screenshot(*screenshot, stage);
    } else if (record) {
        record_film(*record, stage, film);
    } else {
        run_window(stage);
    }
    return 0;
}

}  // namespace
}  // namespace kvtape

int main(int argc, char** argv) {
    // Whoever reads a pipe of ours (ffmpeg) may end early: then the write fails, and that is said.
    std::signal(SIGPIPE, SIG_IGN);
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
