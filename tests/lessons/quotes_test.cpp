// The lessons quote library code by anchor. In a lesson's README.md
//
//   <!-- quote reference_cpu/decoder.cpp one-step -->
//   ```cpp
//   ... exactly the lines between `// [lesson:one-step]` and `// [/lesson]` in that file ...
//   ```
//
// With KVTAPE_REFRESH=1 in the environment, the quoted lines are written anew instead.
//
// They quote their program's output, too: each ```text block after "## Run it" is a part of
// expected.txt, line by line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lessons/lesson_folders.h"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path root = KVTAPE_SOURCE_DIR;

Lines lines_of(const fs::path& path) {
    std::ifstream file(path);
    Lines lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

std::string trimmed(const std::string& line) {
    const auto first = line.find_first_not_of(' ');
    return first == std::string::npos ? "" : line.substr(first);
}

// Removes the indentation that all lines share.
Lines unindented(Lines lines) {
    std::size_t indent = std::string::npos;
    for (const std::string& line : lines) {
        if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
    }
    for (std::string& line : lines) {
        if (!line.empty()) line.erase(0, indent);
    }
    return lines;
}

// All anchored passages of the library, by "file name".
std::map<std::string, Lines> anchored_passages() {
    std::map<std::string, Lines> passages;
    for (const char* folder : {"core", "tracer", "reference_cpu"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path& path = entry.path();
            if (path.extension() != ".h" && path.extension() != ".cpp") continue;
            const std::string file = fs::relative(path, root).generic_string();
            std::string open;
            for (const std::string& line : lines_of(path)) {
                const std::string text = trimmed(line);
                if (text.starts_with("// [lesson:")) {
                    EXPECT_EQ(open, "") << file << ": " << text << " inside " << open;
                    open = file + " " + text.substr(11, text.find(']') - 11);
                    EXPECT_FALSE(passages.contains(open)) << open << " is used twice";
                    passages[open] = {};
                } else if (text == "// [/lesson]") {
                    EXPECT_NE(open, "") << file << ": an end without a beginning";
                    open.clear();
                } else if (!open.empty()) {
                    passages[open].push_back(line);
                }
            }
            EXPECT_EQ(open, "") << open << " is never closed";
        }
    }
    for (auto& [name, lines] : passages) {
        lines = unindented(lines);
        EXPECT_LE(lines.size(), 15u) << name << " is too long to read in a lesson";
    }
    return passages;
}

TEST(Quotes, AreTheLibrarysLines) {
    const auto passages = anchored_passages();
    std::map<std::string, int> used;
    for (const fs::path& folder : lesson_folders()) {
        const fs::path readme = folder / "README.md";
        const Lines lines = lines_of(readme);
        Lines refreshed;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            refreshed.push_back(lines[i]);
            if (!lines[i].starts_with("<!-- quote ")) continue;
            const std::string name = lines[i].substr(11, lines[i].find(" -->") - 11);
            ASSERT_TRUE(passages.contains(name)) << readme << ": no anchor " << name;
            ++used[name];
            ASSERT_LT(i + 1, lines.size());
            ASSERT_EQ(lines[i + 1], "```cpp") << readme << ": after the quote of " << name;
            Lines quoted;
            for (i += 2; i < lines.size() && lines[i] != "```"; ++i) quoted.push_back(lines[i]);
            const Lines& passage = passages.at(name);
            if (std::getenv("KVTAPE_REFRESH") == nullptr) {
                EXPECT_EQ(quoted, passage) << readme << ": " << name << " has changed";
            }
            refreshed.push_back("```cpp");
            refreshed.insert(refreshed.end(), passage.begin(), passage.end());
            refreshed.push_back("```");
        }
        if (std::getenv("KVTAPE_REFRESH") != nullptr) {
            std::ofstream file(readme);
            for (const std::string& line : refreshed) file << line << '\n';
        }
    }
    for (const auto& [name, lines] : passages) EXPECT_GT(used[name], 0) << name << " is not quoted";
}

TEST(Quotes, AreTheProgramsOutput) {
    for (const fs::path& folder : lesson_folders()) {
        SCOPED_TRACE(folder.filename());
        const Lines printed = lines_of(folder / "expected.txt");
        const Lines text = lines_of(folder / "README.md");
        int blocks = 0;
        auto begin = std::find(text.begin(), text.end(), "## Run it");
        while ((begin = std::find(begin, text.end(), "```text")) != text.end()) {
            const auto end = std::find(++begin, text.end(), "```");
            EXPECT_TRUE(std::search(printed.begin(), printed.end(), begin, end) != printed.end())
                << "expected.txt does not hold the block that begins with: " << *begin;
            begin = end;
            ++blocks;
        }
        EXPECT_GT(blocks, 0) << "README.md quotes no output";
    }
}

}  // namespace
