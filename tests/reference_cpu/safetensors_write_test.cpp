// The writer's files are read back by the reader, and a failed write leaves no trace.
#include "reference_cpu/safetensors_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "support/error_text.h"
#include "support/safetensors_file.h"

namespace kvtape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<NamedTensor> tensors = {
    {"second.weight", {2, 3}, {1, 2, 3, 4, 5, -0.0f}},
    {"first.weight", {1}, {std::numeric_limits<float>::denorm_min()}},
    {"none", {0, 4}, {}},
};

// The layout, written out here from the format's description.
TEST(SafetensorsWrite, WritesTheFormat) {
    const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    const std::string expected = safetensors_of(header + std::string(56 - header.size(), ' '),
                                                std::string("\0\0\xc0\x3f", 4));
    EXPECT_EQ(safetensors_bytes({{"w", {1}, {1.5f}}}), expected);
}

TEST(SafetensorsWrite, ReadsBackBitForBit) {
    const std::string path = testing::TempDir() + "written.safetensors";
    write_safetensors(path, tensors);
    write_safetensors(path, tensors);  // over an existing file
    const SafetensorsFile file = SafetensorsFile::open(path);
    EXPECT_THAT(file.names(), ElementsAre("first.weight", "none", "second.weight"));
    for (const NamedTensor& tensor : tensors) {
        const auto values = file.load_f32(tensor.name, tensor.shape);
        ASSERT_EQ(values.size(), tensor.values.size());
        if (!values.empty()) {
            EXPECT_EQ(std::memcmp(values.data(), tensor.values.data(), values.size() * 4), 0);
        }
    }
    EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

TEST(SafetensorsWrite, AFailedWriteLeavesNothing) {
    const std::string missing = testing::TempDir() + "no_such_directory/w.safetensors";
    EXPECT_THAT(error_text([&] { write_safetensors(missing, tensors); }), HasSubstr(missing));

    // A directory in the way lets the rename fail after the data was written.
    const std::string occupied = testing::TempDir() + "occupied.safetensors";
    std::filesystem::create_directories(occupied + "/x");
    EXPECT_THAT(error_text([&] { write_safetensors(occupied, tensors); }), HasSubstr(occupied));
    EXPECT_FALSE(std::filesystem::exists(occupied + ".unfinished"));
}

TEST(SafetensorsWrite, RefusesValuesThatDoNotFillTheShape) {
    EXPECT_THROW(safetensors_bytes({{"w", {2, 2}, {1, 2, 3}}}), ContractViolation);
    EXPECT_THROW(safetensors_bytes({{"w", {1}, {1}}, {"w", {1}, {1}}}), ContractViolation);
}

}  // namespace
}  // namespace kvtape
