// Safetensors files from outside: every field can lie. Most files here are a few dozen bytes.
#include "reference_cpu/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/safetensors_file.h"

namespace kvtape {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& file) {
    return error_text([&] { parse_safetensors(file); });
}

// A header with one F32 tensor "w" whose shape and offsets are given as JSON.
std::string header_of_w(const std::string& shape, const std::string& offsets) {
    return R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

// A header with F32 tensors "a" and "b", each of two elements.
std::string header_of_ab(const std::string& offsets_a, const std::string& offsets_b) {
    return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + offsets_a +
           R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + offsets_b + "}}";
}

const std::string two_floats("\0\0\x80\x3f\0\0\0\xc0", 8);  // 1, -2

TEST(Safetensors, ReadsWhatTheFormatAllows) {
    const std::string file =
        safetensors_of(R"({"__metadata__":{"format":"pt"},)"
                       R"("b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
                       R"("scalar":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                       R"("empty":{"dtype":"I64","shape":[0,7],"data_offsets":[4,4]}})",
                       std::string("\0\0\0\x3f", 4) + two_floats);
    const SafetensorsFile weights = parse_safetensors(file);
    EXPECT_THAT(weights.names(), ElementsAre("b", "empty", "scalar"));
    EXPECT_TRUE(weights.has("b"));
    EXPECT_FALSE(weights.has("__metadata__"));
    EXPECT_THAT(weights.load_f32("b", {2, 1}), ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(weights.load_f32("scalar", {}), ElementsAre(0.5f));
    EXPECT_EQ(weights.find("empty").elements, 0);
    EXPECT_EQ(weights.find("b").dtype, "F32");
}

TEST(Safetensors, HeaderLengthIsCheckedAgainstTheFile) {  // PC-LD-01
    const std::string header = header_of_w("[2]", "[0,8]");
    const auto with_length = [&](std::uint64_t bytes) {
        return refusal(safetensors_with_length(bytes, header, two_floats));
    };
    const std::uint64_t file_bytes = 8 + header.size() + two_floats.size();
    EXPECT_THAT(with_length(~std::uint64_t{0}), HasSubstr("18446744073709551615"));
    EXPECT_THAT(with_length(file_bytes - 7), HasSubstr(std::to_string(file_bytes - 7)));
    EXPECT_THAT(with_length(0), HasSubstr("does not start with '{'"));
    EXPECT_THAT(with_length(100'000'001), HasSubstr("100000001"));
    EXPECT_THAT(refusal(std::string(7, '\0')), HasSubstr("7 bytes"));
    EXPECT_THAT(refusal(""), HasSubstr("0 bytes"));
}

TEST(Safetensors, HeaderMustBeOneJsonObject) {  // PC-LD-01
    EXPECT_THAT(refusal(safetensors_of("[1,2]", "")), HasSubstr("does not start with '{'"));
    EXPECT_THAT(refusal(safetensors_of(" {}", "")), HasSubstr("does not start with '{'"));
    EXPECT_THAT(refusal(safetensors_of("{", "")), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal(safetensors_of("{}x", "")), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal(safetensors_of("{\"\xff\":{}}", "")), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal(safetensors_of(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                       R"("w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                                       "")),
                HasSubstr("'w' appears twice"));
    EXPECT_THAT(refusal(safetensors_of("{\"w\":" + std::string(10'000, '['), "")),
                HasSubstr("nested deeper"));
}

TEST(Safetensors, HeaderMayEndInSpaces) {  // PC-LD-01
    const std::string file =
        safetensors_of(header_of_w("[2]", "[0,8]") + std::string(100, ' '), two_floats);
    EXPECT_THAT(parse_safetensors(file).load_f32("w", {2}), ElementsAre(1.0f, -2.0f));
}

TEST(Safetensors, EntriesHaveExactlyTheKnownFields) {
    EXPECT_THAT(refusal(safetensors_of(R"({"w":3})", "")), HasSubstr("tensor 'w'"));
    EXPECT_THAT(refusal(safetensors_of(R"({"w":{}})", "")), HasSubstr("dtype is missing"));
    EXPECT_THAT(
        refusal(safetensors_of(R"({"w":{"dtype":"F33","shape":[],"data_offsets":[0,4]}})", "1234")),
        HasSubstr("'F33'"));
    EXPECT_THAT(refusal(safetensors_of(
                    R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,4],"extra":1}})", "1234")),
                AllOf(HasSubstr("'w'"), HasSubstr("'extra'")));
    EXPECT_THAT(refusal(safetensors_of(R"({"__metadata__":{"a":1}})", "")), HasSubstr("'a'"));
    EXPECT_THAT(refusal(safetensors_of(R"({"w\n":{"dtype":"F32"}})", "")), HasSubstr("'w\\x0a'"));
}

TEST(Safetensors, OffsetsAreTwoIntegersInOrder) {  // PC-LD-02
    for (const char* offsets :
         {"[8,4]", "[-8,0]", "[0]", "[0,4,8]", "[9223372036854775808,9223372036854775812]",
          "[18446744073709551616,18446744073709551620]", "[0,4.5]", "[0,8.0]", "[0,\"8\"]",
          "[0,null]", "{}", "8"}) {
        const std::string text = refusal(safetensors_of(header_of_w("[2]", offsets), two_floats));
        EXPECT_THAT(text, AllOf(HasSubstr("'w'"), HasSubstr("data_offsets"))) << offsets;
    }
    EXPECT_THAT(refusal(safetensors_of(header_of_w("[3]", "[0,12]"), two_floats)),
                AllOf(HasSubstr("'w'"), HasSubstr("12")));
}

TEST(Safetensors, ShapesAreIntegersWhoseProductFits) {  // PC-LD-04
    for (const char* shape : {"[-1]", "[1.5]", "[\"2\"]", "2", "[[2]]", "[9223372036854775808]",
                              "[4294967296,4294967296]", "[4611686018427387904,4,0]",
                              "[4611686018427387904]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]"}) {
        EXPECT_THAT(refusal(safetensors_of(header_of_w(shape, "[0,8]"), two_floats)),
                    AllOf(HasSubstr("'w'"), HasSubstr("shape")))
            << shape;
    }
}

TEST(Safetensors, ShapeAndSpanMustAgree) {  // PC-LD-04
    EXPECT_THAT(refusal(safetensors_of(header_of_w("[32,8]", "[0,65536]"), std::string(65536, 0))),
                AllOf(HasSubstr("'w'"), HasSubstr("1024"), HasSubstr("65536")));
    EXPECT_THAT(refusal(safetensors_of(header_of_w("[1000,1000]", "[0,4]"), "1234")),
                AllOf(HasSubstr("4000000"), HasSubstr("span 4")));
}

TEST(Safetensors, TensorsDoNotOverlap) {  // PC-LD-05
    EXPECT_THAT(refusal(safetensors_of(header_of_ab("[0,8]", "[4,12]"), std::string(12, 0))),
                AllOf(HasSubstr("'a'"), HasSubstr("'b'"), HasSubstr("overlap")));
    EXPECT_THAT(refusal(safetensors_of(header_of_ab("[0,8]", "[0,8]"), std::string(8, 0))),
                HasSubstr("overlap"));
}

TEST(Safetensors, EveryByteBelongsToATensor) {  // PC-LD-05
    EXPECT_THAT(refusal(safetensors_of(header_of_ab("[0,8]", "[12,20]"), std::string(20, 0))),
                AllOf(HasSubstr("8 to 12"), HasSubstr("'b'")));
    EXPECT_THAT(refusal(safetensors_of(header_of_ab("[0,8]", "[8,16]"), std::string(19, 0))),
                HasSubstr("3 bytes after the last tensor"));
    EXPECT_THAT(refusal(safetensors_of("{}", "x")), HasSubstr("1 bytes after"));
}

// The bytes of PC-LD-20, read as BF16 and as F16, and two floats, at every address modulo 4.
TEST(Safetensors, DataMayStartAtAnyAddress) {  // PC-LD-07
    const std::string narrow("\x80\x3f\x00\x40\xc0\xbf\x01\x00", 8);
    const std::string header = R"({"bf16":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},)"
                               R"("f16":{"dtype":"F16","shape":[4],"data_offsets":[8,16]},)"
                               R"("f32":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
    for (std::size_t shift = 0; shift < 8; ++shift) {
        const std::string padding(shift, ' ');
        const std::string path = testing::TempDir() + "odd_address.safetensors";
        std::ofstream(path, std::ios::binary)
            << safetensors_of(header + padding, narrow + narrow + two_floats);
        const SafetensorsFile weights = SafetensorsFile::open(path);
        EXPECT_THAT(weights.load_f32("bf16", {2, 2}), ElementsAre(1, 2, -1.5, 0x1p-133f));
        EXPECT_THAT(weights.load_f32("f16", {4}), ElementsAre(1.875, 2, -1.9375, 0x1p-24f));
        EXPECT_THAT(weights.load_f32("f32", {2}), ElementsAre(1, -2));
    }
}

TEST(Safetensors, NarrowFormatsAreWidenedExactly) {  // PC-LD-20
    const std::string bytes("\x80\x3f\x00\x40\xc0\xbf\x01\x00", 8);
    const auto load_as = [&](const std::string& dtype) {
        const std::string file = safetensors_of(
            R"({"w":{"dtype":")" + dtype + R"(","shape":[2,2],"data_offsets":[0,8]}})", bytes);
        const SafetensorsFile weights = parse_safetensors(file);
        EXPECT_THAT(weights.find("w").shape, ElementsAre(2, 2));
        return weights.load_f32("w", {2, 2});
    };
    EXPECT_THAT(load_as("BF16"), ElementsAre(1.0f, 2.0f, -1.5f, 0x1p-133f));
    EXPECT_THAT(load_as("F16"), ElementsAre(1.875f, 2.0f, -1.9375f, 0x1p-24f));
}

TEST(Safetensors, EveryTruncationIsRefused) {  // PC-LD-08
    const std::string header = header_of_ab("[0,8]", "[8,16]");
    const std::string file = safetensors_of(header, two_floats + two_floats);
    EXPECT_THAT(parse_safetensors(file).load_f32("b", {2}), ElementsAre(1.0f, -2.0f));
    for (std::size_t length = 0; length < file.size(); ++length) {
        const std::string text = refusal(file.substr(0, length));
        if (length == file.size() - 1 || length == 8 + header.size()) {
            EXPECT_THAT(text, AllOf(HasSubstr("8 + " + std::to_string(header.size()) + " + "),
                                    HasSubstr("has " + std::to_string(length))));
        }
    }
}

TEST(Safetensors, AnyFlippedBitIsAnErrorOrAnotherValidFile) {
    const std::string file =
        safetensors_of(header_of_ab("[0,8]", "[8,16]"), two_floats + two_floats);
    int refused = 0;
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
        std::string damaged = file;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        try {
            const SafetensorsFile weights = parse_safetensors(damaged);
            for (const std::string& name : weights.names()) {
                weights.load_f32(name, weights.find(name).shape);
            }
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 8 * 8);
}

TEST(Safetensors, LoadNamesBothShapes) {
    const std::string file = safetensors_of(header_of_w("[2]", "[0,8]"), two_floats);
    const SafetensorsFile weights = parse_safetensors(file);
    EXPECT_THAT(error_text([&] {
                    weights.load_f32("w", {2, 1});
                }),
                AllOf(HasSubstr("'w'"), HasSubstr("[2]"), HasSubstr("[2, 1]")));
    EXPECT_THAT(error_text([&] { weights.load_f32("v", {2}); }), HasSubstr("no tensor 'v'"));
    EXPECT_THAT(error_text([&] { weights.find("v"); }), HasSubstr("no tensor 'v'"));
}

TEST(Safetensors, OtherDtypesAreCheckedButNotLoaded) {
    for (const char* dtype : {"BOOL", "U8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F6_E2M3", "F4"}) {
        const std::string bits = dtype;
        const std::string bytes = bits == "F4" ? "2" : bits == "F6_E2M3" ? "3" : "4";
        const std::string file = safetensors_of(
            R"({"w":{"dtype":")" + bits + R"(","shape":[4],"data_offsets":[0,)" + bytes + "]}}",
            std::string(std::stoul(bytes), 0));
        const SafetensorsFile weights = parse_safetensors(file);
        EXPECT_THAT(error_text([&] { weights.load_f32("w", {4}); }),
                    AllOf(HasSubstr("'w'"), HasSubstr(bits)));
    }
    EXPECT_THAT(
        refusal(safetensors_of(R"({"w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", "x")),
        HasSubstr("whole byte"));
}

TEST(Safetensors, NanAndInfinityAreNamedWithTheirIndex) {
    const auto refusal_of = [](const std::string& dtype, const std::string& shape,
                               const std::string& data) {
        const std::string file =
            safetensors_of(R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape +
                               R"(,"data_offsets":[0,)" + std::to_string(data.size()) + "]}}",
                           data);
        const SafetensorsFile weights = parse_safetensors(file);
        return error_text([&] { weights.load_f32("w", weights.find("w").shape); });
    };
    EXPECT_THAT(refusal_of("F32", "[2,2]", two_floats + std::string("\0\0\0\0\0\0\xc0\x7f", 8)),
                AllOf(HasSubstr("'w'"), HasSubstr("nan"), HasSubstr("[1, 1]")));
    EXPECT_THAT(refusal_of("F16", "[2]", std::string("\0\0\0\xfc", 4)),
                AllOf(HasSubstr("-inf"), HasSubstr("[1]")));
    EXPECT_THAT(refusal_of("BF16", "[]", "\x80\x7f"), AllOf(HasSubstr("inf"), HasSubstr("[]")));
}

TEST(Safetensors, OpenSaysWhatIsWrongWithThePath) {
    const std::string directory = testing::TempDir() + "safetensors_paths";
    std::filesystem::create_directories(directory);
    const std::string path = directory + "/model.safetensors";
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".index.json");
    const auto refusal_to_open = [](const std::string& file) {
        return error_text([&] { SafetensorsFile::open(file); });
    };
    EXPECT_THAT(refusal_to_open(path), AllOf(HasSubstr(path), HasSubstr("No such file")));
    EXPECT_THAT(refusal_to_open(directory), HasSubstr("is a folder"));
    std::ofstream(path + ".index.json") << "{}";
    EXPECT_THAT(refusal_to_open(path), HasSubstr("sharded"));
    std::ofstream(path, std::ios::binary).flush();
    EXPECT_THAT(refusal_to_open(path), HasSubstr("0 bytes"));
}

TEST(Safetensors, StaysValidWhenMoved) {
    const std::string path = testing::TempDir() + "moved.safetensors";
    std::ofstream(path, std::ios::binary)
        << safetensors_of(header_of_w("[2]", "[0,8]"), two_floats);
    SafetensorsFile first = SafetensorsFile::open(path);
    SafetensorsFile second = std::move(first);
    EXPECT_THAT(second.load_f32("w", {2}), ElementsAre(1.0f, -2.0f));
}

}  // namespace
}  // namespace kvtape
