// The `kvtape` program: finds the verb, parses its options, runs it, and turns every failure into
// one line and an exit code (cli/exit_code.h).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace kvtape {
namespace {

struct Verb {
    const char* name;
    const char* purpose;
    Action (*add)(CLI::App&);
};

constexpr Verb verbs[] = {
    {"demo", "decode a prepared text three ways, side by side, with costs and a tape", add_demo},
    {"run", "decode a prompt with one cache, the text as it is produced", add_run},
    {"compare", "decode a prompt three ways; fails if one bit differs", add_compare},
    {"arithmetic", "count FLOPs over a sweep of lengths, beside the closed forms", add_arithmetic},
    {"inspect", "show what a tape holds; --verify recounts all of it", add_inspect},
    {"footprint", "bytes of cache per token, sequence and block", add_footprint},
    {"lesson", "read and run a lesson", add_lesson},
};

constexpr const char* footer =
    "Exit codes: 0 done; 1 failed, one line says why; 2 wrong command line; 3 bits, counts or "
    "accesses\n"
    "are not what they must be; 4 the tape is cut.\n"
    "\n"
    "Examples:\n"
    "  kvtape demo\n"
    "  kvtape run --prompt \"Mia has 4821.\" --max-tokens 40\n"
    "  kvtape VERB --help";

std::string verb_names() {
    std::string names;
    for (const Verb& verb : verbs) names += (names.empty() ? "" : ", ") + std::string(verb.name);
    return names;
}

// CLI11 takes `--tape ""`, as from a shell variable that is not set, for no tape at all. Throws
// UsageError. A prompt may be empty: that the model refuses.
void refuse_empty_values(const CLI::App& verb) {
    for (const CLI::Option* option : verb.get_options()) {
        const std::string& name = option->get_single_name();
        if (name == "prompt" || name == "ids") continue;
        for (const std::string& given : option->results()) {
            if (given.empty()) {
                throw UsageError(option->get_name() + " is empty; give a value, or leave it out");
            }
        }
    }
}

// A closed standard stream would give its number to the next file that is opened, and what is meant
// for the user would be written there, into a tape. Opened for the wrong direction, it fails as a
// closed one does.
void keep_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
    }
}

int wrong_usage(const std::string& verb, const std::string& message) {
    const std::string program = verb.empty() ? "kvtape" : "kvtape " + verb;
    say((verb.empty() ? "" : verb + ": ") + message + "; see '" + program + " --help'");
    return exit_code::usage;
}

int run_program(int argc, char** argv) {
    CLI::App app("kvtape: watch the KV cache of a real decoder being written.", "kvtape");
    app.footer(footer);
    app.require_subcommand(0, 1);
    std::vector<std::pair<const CLI::App*, Action>> actions;
    for (const Verb& verb : verbs) {
        CLI::App* const sub = app.add_subcommand(verb.name, verb.purpose);
        actions.emplace_back(sub, verb.add(*sub));
    }

    const std::string first = argc > 1 ? argv[1] : "";
    if (first.empty()) return wrong_usage("", "no verb given; use one of " + verb_names());
    const bool known = std::any_of(std::begin(verbs), std::end(verbs),
                                   [&](const Verb& verb) { return first == verb.name; });
    if (!known && first[0] != '-') {
        return wrong_usage("", "unknown verb '" + first + "'; use one of " + verb_names());
    }
    const std::string verb = known ? first : "";
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success&) {  // --help
        print(app.help());
        return exit_code::ok;
    } catch (const CLI::ParseError& error) {
        return wrong_usage(verb, error.what());
    }
    for (const auto& [sub, action] : actions) {
        if (!sub->parsed()) continue;
        try {
            refuse_empty_values(*sub);
            return action();
        } catch (const UsageError& error) {
            return wrong_usage(verb, error.what());
        }
    }
    return wrong_usage("", "no verb given; use one of " + verb_names());
}

}  // namespace
}  // namespace kvtape

int main(int argc, char** argv) {
    using namespace kvtape;
    keep_standard_streams();
    // A write to a closed pipe then fails like any other write, and the tape can be closed
    // properly.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run_program(argc, argv);
    } catch (const OutputClosed&) {
        return exit_code::output_closed;
    } catch (const Error& error) {
        say(error.what());
    } catch (const std::bad_alloc&) {
        say("out of memory; use a smaller model, a shorter --max-model-len or fewer blocks");
    } catch (const std::exception& error) {
        say(std::string("internal error, please report it: ") + error.what());
    }
    return exit_code::error;
}
