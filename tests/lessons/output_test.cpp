// Every lesson's program prints exactly what expected.txt beside it says.
// With KVTAPE_REFRESH=1 in the environment, expected.txt is written anew instead.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "lessons/lesson_folders.h"

namespace {

std::string output_of(const std::string& program) {
    std::FILE* pipe = popen(program.c_str(), "r");
    if (pipe == nullptr) return "cannot start " + program;
    std::string output;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
    const int status = pclose(pipe);
    return status == 0 ? output : output + "(exit status " + std::to_string(status) + ")\n";
}

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LessonOutput, IsAsExpected) {
    for (const auto& folder : lesson_folders()) {
        const std::string number = folder.filename().string().substr(0, 2);
        const std::string expected_path = (folder / "expected.txt").string();
        SCOPED_TRACE(expected_path);
        const std::string output =
            output_of(std::string(KVTAPE_BINARY_DIR) + "/lessons/lesson_" + number);
        if (std::getenv("KVTAPE_REFRESH") != nullptr) {
            std::ofstream(expected_path, std::ios::binary) << output;
        }
        const std::string expected = content_of(expected_path);
        EXPECT_FALSE(expected.empty()) << "missing or empty";
        EXPECT_EQ(output, expected);
    }
}

}  // namespace
