// `kvtape lesson N`: the text of a lesson, then what its program prints. Without a number:
// the list of lessons.
//
// The texts are in the source, lessons/NN_name/README.md; the programs are built beside this one,
// as ../lessons/lesson_NN.
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "reference_cpu/input_file.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_text_bytes = 4 << 20;

struct Lesson {
    int number;
    fs::path text;  // .../lessons/NN_name/README.md
};

const fs::path lessons_directory = KVTAPE_SOURCE_DIR "/lessons";

std::vector<Lesson> find_lessons() {
    std::vector<Lesson> lessons;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(lessons_directory, error)) {
        const std::string name = entry.path().filename().string();
        const bool numbered = name.size() > 3 && std::isdigit(name[0]) != 0 &&
                              std::isdigit(name[1]) != 0 && name[2] == '_';
        const fs::path text = entry.path() / "README.md";
        if (numbered && fs::exists(text)) lessons.push_back({std::stoi(name.substr(0, 2)), text});
    }
    if (error || lessons.empty()) {
        fail("no lessons in ", lessons_directory.string(),
             "; the program needs the source it was built from, build it anew where the source is");
    }
    std::sort(lessons.begin(), lessons.end(),
              [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
    return lessons;
}

// The first heading of the text, without its mark.
std::string title_of(const Lesson& lesson) {
    const std::string text = read_text_file(lesson.text.string(), largest_text_bytes);
    std::string title = text.substr(0, text.find('\n'));
    title.erase(0, title.find_first_not_of("# "));
    return title;
}

// The text without the lines that only a page can show: pictures, and the marks of quotes.
std::string text_of(const Lesson& lesson) {
    std::istringstream lines(read_text_file(lesson.text.string(), largest_text_bytes));
    std::string text, line;
    bool blank = false;
    while (std::getline(lines, line)) {
        if (line.rfind("![", 0) == 0 || line.rfind("<!-- ", 0) == 0) continue;
        if (blank && line.empty()) continue;
        blank = line.empty();
        text += line + "\n";
    }
    return text;
}

int list_lessons() {
    for (const Lesson& lesson : find_lessons()) {
        std::string number = std::to_string(lesson.number);
        number.insert(0, 3 - std::min<std::size_t>(number.size(), 3), ' ');
        print(number + "  " + title_of(lesson) + "\n");
    }
    print("\n./kvtape lesson 1 shows and runs the first.\n");
    return exit_code::ok;
}

fs::path program_of(const Lesson& lesson) {
    const std::string number = (lesson.number < 10 ? "0" : "") + std::to_string(lesson.number);
    return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lessons" /
           ("lesson_" + number);
}

// Runs the program with our standard output and error; returns its exit code.
int run_program(const fs::path& program) {
    const pid_t child = fork();
    if (child < 0) fail("cannot start ", program.string(), ": ", std::strerror(errno));
    if (child == 0) {
        std::signal(SIGPIPE, SIG_DFL);
        execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) return exit_code::output_closed;
    if (WIFSIGNALED(status)) fail(program.string(), " was stopped by signal ", WTERMSIG(status));
    return WEXITSTATUS(status);
}

int show_lesson(int number) {
    const std::vector<Lesson> lessons = find_lessons();
    const auto lesson = std::find_if(lessons.begin(), lessons.end(),
                                     [&](const Lesson& each) { return each.number == number; });
    if (lesson == lessons.end()) {
        fail("there is no lesson ", number, "; there are ", lessons.front().number, " to ",
             lessons.back().number, ", 'kvtape lesson' lists them");
    }
    const fs::path program = program_of(*lesson);
    if (!fs::exists(program)) {
        fail("the program of lesson ", number, " is not built: ", program.string(),
             " is missing; './kvtape build' builds it");
    }
    // Relative to where we are, unless that place is gone.
    std::error_code nowhere;
    fs::path path = fs::relative(lesson->text, nowhere);
    if (nowhere) path = lesson->text;
    print(text_of(*lesson) + "\n" + std::string(78, '-') + "\nThe text above is " + path.string() +
          ".\nIts program, main.cpp beside it, prints:\n\n");
    return run_program(program);
}

}  // namespace

Action add_lesson(CLI::App& verb) {
    const auto number = std::make_shared<std::optional<int>>();
    const auto parse = [number](const std::string& text) {
        *number = parse_number<int>("N", text);
    };
    add_parsed(verb, "N", parse, "number of the lesson (default: list them)");
    verb.footer(
        "Examples:\n"
        "  kvtape lesson\n"
        "  kvtape lesson 1\n"
        "\n"
        "The launcher at the top of the source knows two more:\n"
        "  ./kvtape lesson 1 --exercise    builds and runs the exercise of the lesson\n"
        "  ./kvtape lesson 1 --view        tells the lesson in the viewer");
    return [number] { return *number ? show_lesson(**number) : list_lessons(); };
}

}  // namespace kvtape
