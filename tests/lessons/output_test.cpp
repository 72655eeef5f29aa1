// Every lesson's program prints exactly what expected.txt beside it says.
// With KVTAPE_REFRESH=1 in the environment, expected.txt is written anew instead.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

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

class LessonOutput : public testing::TestWithParam<const char*> {};

TEST_P(LessonOutput, IsAsExpected) {
    const std::string folder = GetParam();
    const std::string program =
        std::string(KVTAPE_BINARY_DIR) + "/lessons/lesson_" + folder.substr(0, 2);
    const std::string expected_path =
        std::string(KVTAPE_SOURCE_DIR) + "/lessons/" + folder + "/expected.txt";
    const std::string output = output_of(program);
    if (std::getenv("KVTAPE_REFRESH") != nullptr) {
        std::ofstream(expected_path, std::ios::binary) << output;
    }
    const std::string expected = content_of(expected_path);
    ASSERT_FALSE(expected.empty()) << expected_path << " is missing or empty";
    EXPECT_EQ(output, expected);
}

INSTANTIATE_TEST_SUITE_P(All, LessonOutput,
                         testing::Values("01_one_token", "02_causal_mask", "03_without_a_cache",
                                         "04_prefill_and_decode", "05_arithmetic",
                                         "06_heads_and_footprint"),
                         [](const auto& lesson) { return std::string(lesson.param).substr(3); });

}  // namespace
