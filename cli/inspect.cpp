// `kvtape inspect TAPE`: what a tape holds; what was in the cache at a step; and, with --verify, a
// recount of everything that shares nothing with the program that wrote it.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "cli/inspect_step.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tape_summary.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "tracer/tape_reader.h"
#include "tracer/utf8.h"
#include "tracer/verify.h"

namespace kvtape {
namespace {

struct InspectOptions {
    std::string tape;
    std::optional<std::int64_t> at;
    std::optional<std::string> lane;
    std::int64_t layer = 0;
    std::int64_t kv_head = 0;
    std::string kind = "k";
    bool verify = false;
    bool json = false;
};

// The lanes that --lane means: all of them without it, else the one of that name or number.
std::vector<std::int32_t> chosen_lanes(const InspectOptions& options, const TapeHeader& header) {
    std::vector<std::int32_t> lanes;
    std::string names;
    for (std::int32_t i = 0; i < std::ssize(header.lanes); ++i) {
        const std::string& name = header.lanes[static_cast<std::size_t>(i)].name;
        names += (names.empty() ? "" : ", ") + name;
        if (!options.lane || *options.lane == name || *options.lane == std::to_string(i)) {
            lanes.push_back(i);
        }
    }
    if (lanes.empty()) fail("the tape has no lane '", *options.lane, "'; it has ", names);
    return lanes;
}

RowChoice chosen_row(const InspectOptions& options, const TapeHeader& header) {
    check_between("--layer", options.layer, 0, header.shape.layers - 1);
    check_between("--kv-head", options.kv_head, 0, header.shape.kv_heads - 1);
    if (options.kind != "k" && options.kind != "v") {
        fail("--kind is '", options.kind, "'; use k or v");
    }
    return {static_cast<std::int32_t>(options.layer), static_cast<std::int32_t>(options.kv_head),
            options.kind == "k" ? Kind::key : Kind::value};
}

// Reads the whole tape once, for the summary and for the steps that --at asks for. A tape that is
// cut or damaged is read as far as it goes.
TapeSummary read_tape(const InspectOptions& options, std::vector<StepView>& views,
                      Progress& progress, int& exit) {
    TapeReader reader(options.tape);
    TapeSummary summary;
    summary.header = reader.header();
    summary.lanes.resize(summary.header.lanes.size());
    if (options.at) {
        for (const std::int32_t lane : chosen_lanes(options, summary.header)) {
            views.emplace_back(summary.header, lane, *options.at);
        }
    }
    try {
        Step step;
        auto got = reader.next(step);
        for (; got == TapeReader::Next::step; got = reader.next(step)) {
            summary.lanes[static_cast<std::size_t>(step.lane)].add(step);
            for (StepView& view : views) view.add(step);
            progress.update("reading the tape, " + with_commas(reader.steps_read()) +
                            " steps so far");
        }
        if (got == TapeReader::Next::incomplete) {
            summary.fault = reader.truncation().what();
            exit = exit_code::truncated;
        }
        summary.end_reason = reader.end_reason();
    } catch (const TapeError& error) {
        summary.fault = error.what();
        exit = exit_code::error;
    }
    summary.bytes = reader.bytes_read();
    return summary;
}

std::string verified_in_words(const VerifyReport& report) {
    if (report.problems_found == 0) {
        return "verified: every run of " + with_commas(report.steps()) +
               " steps was expanded, rows, bytes and FLOP were counted anew; no contradiction\n";
    }
    std::string text;
    for (const VerifyProblem& problem : report.problems) {
        text += "problem: lane " + std::to_string(problem.lane) + ", step " +
                std::to_string(problem.step) + ": " + escaped(problem.what) + "\n";
    }
    const std::int64_t unlisted = report.problems_found - std::ssize(report.problems);
    if (unlisted > 0) text += "and " + with_commas(unlisted) + " more problems\n";
    return text;
}

Json verified_in_json(const VerifyReport& report) {
    Json json = {{"ok", report.ok()},
                 {"problems_found", report.problems_found},
                 {"problems", Json::array()}};
    for (const VerifyProblem& problem : report.problems) {
        json["problems"].push_back(
            {{"lane", problem.lane}, {"step", problem.step}, {"what", printable(problem.what)}});
    }
    return json;
}

int inspect(const InspectOptions& options) {
    if (options.at) check_at_least("--at", *options.at, 0);
    Progress progress("reading the tape");
    int exit = exit_code::ok;
    std::vector<StepView> views;
    const TapeSummary summary = read_tape(options, views, progress, exit);
    const RowChoice choice = chosen_row(options, summary.header);
    for (const StepView& view : views) {
        if (!view.found()) {
            fail("there is no step ", *options.at, " in the lane; its steps are 0 to ",
                 view.steps() - 1, view.steps() == 0 ? " (none)" : "");
        }
    }
    std::optional<VerifyReport> verified;
    // A damaged record ends the summary and would end this as well.
    if (options.verify && exit != exit_code::error) {
        progress.update("recounting the tape");
        TapeReader reader(options.tape);
        verified = verify(reader);
        if (verified->problems_found > 0) exit = exit_code::broken_promise;
    }
    progress.stop();

    if (options.json) {
        Json json = summary.json();
        if (verified) json["verify"] = verified_in_json(*verified);
        for (const StepView& view : views) json["at"].push_back(view.json(choice));
        print_json(json);
    } else {
        std::string text = options.at ? "" : summary.text();
        for (const StepView& view : views) text += view.text(choice);
        if (verified) text += verified_in_words(*verified);
        print(text);
    }
    if (!summary.fault.empty()) say(summary.fault);
    if (verified && verified->problems_found > 0) {
        say(options.tape + ": " + with_commas(verified->problems_found) +
            " contradictions; the tape does not show what a decoder did");
    }
    return exit;
}

}  // namespace

Action add_inspect(CLI::App& verb) {
    const auto options = std::make_shared<InspectOptions>();
    verb.add_option("TAPE", options->tape, "the tape, .tape or .jsonl")->required();
    CLI::Option* const at =
        add_number(verb, "--at", options->at, "show this step of each lane; steps count from 0")
            ->type_name("STEP");
    verb.add_option("--lane", options->lane, "with --at: only the lane of this name or number")
        ->type_name("LANE")
        ->needs(at);
    add_number(verb, "--layer", options->layer, "with --at: draw the rows of this layer")
        ->type_name("N")
        ->needs(at);
    add_number(verb, "--kv-head", options->kv_head, "with --at: draw the rows of this KV head")
        ->type_name("N")
        ->needs(at);
    verb.add_option("--kind", options->kind, "with --at: draw rows of k or v")
        ->type_name("k|v")
        ->capture_default_str()
        ->needs(at);
    verb.add_flag("--verify", options->verify,
                  "expand every run, recount everything and compare with the closed forms");
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "Exit codes: 0 the tape is whole (and, with --verify, consistent); 3 it contradicts "
        "itself;\n"
        "4 it is cut; 1 it cannot be read, or a record is damaged.\n"
        "\n"
        "Examples:\n"
        "  kvtape inspect demo.tape\n"
        "  kvtape inspect demo.tape --at 5 --lane paged\n"
        "  kvtape inspect demo.tape --verify --json");
    return [options] { return inspect(*options); };
}

}  // namespace kvtape
