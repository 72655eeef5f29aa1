// Tapes that are cut, damaged, hostile, new, empty, or no tapes at all.
#include "tracer/tape_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/random.h"
#include "support/error_text.h"
#include "support/tape_files.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

using ::testing::HasSubstr;
using namespace test;

class TapeIn : public ::testing::TestWithParam<const char*> {
  protected:
    std::string path(const std::string& stem = "a") const {
        return folder_ / (stem + std::string(GetParam()));
    }
    bool json() const { return std::string(GetParam()) == ".jsonl"; }

    // A tape's bytes and where each of its records ends.
    struct Bytes {
        std::string all;
        std::vector<std::size_t> ends;  // header, steps, end record
    };
    Bytes small_tape(std::int64_t steps) const {
        Bytes bytes;
        const std::string name = path("whole");
        std::filesystem::remove(name);
        TapeWriter writer(name, small_header());
        bytes.ends.push_back(static_cast<std::size_t>(writer.bytes_written()));
        for (std::int64_t i = 0; i < steps; ++i) {
            writer.write(small_step(i));
            bytes.ends.push_back(static_cast<std::size_t>(writer.bytes_written()));
        }
        writer.close();
        bytes.all = file_bytes(name);
        bytes.ends.push_back(bytes.all.size());
        return bytes;
    }

    // One record in this encoding.
    std::string record(const std::string& json_text) const {
        return encode_record(Json::parse(json_text),
                             json() ? TapeEncoding::json_lines : TapeEncoding::cbor_sequence);
    }

    ReadOutcome read(const std::string& bytes) const {
        write_file(path("damaged"), bytes);
        return read_tape(path("damaged"));
    }

    // A plain Error, which says this and nothing more.
    template <class Call>
    void expect_written_anew(const Call& call) const {
        try {
            call();
            ADD_FAILURE() << "no Error was thrown";
        } catch (const TapeError& error) {
            ADD_FAILURE() << "a TapeError: " << error.what();
        } catch (const Error& error) {
            EXPECT_EQ(error.what(),
                      "tape '" + path() + "' was written anew while it was read; open it again");
        }
    }

    Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Encodings, TapeIn, ::testing::Values(".jsonl", ".tape"),
                         [](const auto& name) { return std::string(name.param).substr(1); });

// ---- cut tapes --------------------------------------------------------------------------------

// PC-TV-04
TEST_P(TapeIn, EveryTruncationKeepsTheCompleteSteps) {
    const Bytes bytes = small_tape(3);
    for (std::size_t size = 0; size < bytes.all.size(); ++size) {
        const ReadOutcome outcome = read(bytes.all.substr(0, size));
        std::size_t records = 0;
        while (bytes.ends[records] <= size) ++records;
        const std::size_t steps = records == 0 ? 0 : records - 1;
        ASSERT_EQ(outcome.steps.size(), steps) << "cut at " << size;
        for (std::size_t i = 0; i < steps; ++i) {
            ASSERT_TRUE(same(outcome.steps[i], small_step(static_cast<std::int64_t>(i))));
        }
        ASSERT_TRUE(outcome.error.has_value()) << "cut at " << size;
        ASSERT_EQ(outcome.error->fault, TapeFault::truncated) << "cut at " << size;
        ASSERT_EQ(outcome.error->byte, static_cast<std::int64_t>(size));
        ASSERT_THAT(outcome.error->what(), HasSubstr(std::to_string(steps)));
        ASSERT_THAT(outcome.error->what(), HasSubstr("record the tape again"));
    }
    EXPECT_TRUE(read(bytes.all).ended);
}

// PC-TV-13
TEST_P(TapeIn, AnEmptyFileSaysSo) {
    const ReadOutcome outcome = read("");
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(outcome.error->fault, TapeFault::truncated);
    EXPECT_THAT(outcome.error->what(), HasSubstr("is empty"));
}

// PC-TV-13
TEST_P(TapeIn, NoStepsAndOneStepAreTapes) {
    write_small_tape(path("none"), 0, "prompt of 70 tokens is longer than max_model_len 64");
    const ReadOutcome none = read_tape(path("none"));
    EXPECT_TRUE(none.ended);
    EXPECT_TRUE(none.steps.empty());
    EXPECT_EQ(none.end_reason, "prompt of 70 tokens is longer than max_model_len 64");

    write_small_tape(path("one"), 1);
    const ReadOutcome one = read_tape(path("one"));
    EXPECT_TRUE(one.ended);
    EXPECT_EQ(one.steps.size(), 1u);
    EXPECT_EQ(one.end_reason, "");
}

// ---- no tape, newer tape ----------------------------------------------------------------------

TEST_P(TapeIn, OtherFilesAreNotTapes) {
    for (const std::string bytes :
         {"GGUF....", "{\"model\":1}\n", "[1,2]\n", "\xd8\x18\x5b", "\n", "x", "{}",
          "\x7f"
          "ELF",
          "{\"tape\":\"other\"}\n", "\xd8\x18\x5a....\xa1\x64tapf"}) {
        const ReadOutcome outcome = read(bytes);
        ASSERT_TRUE(outcome.error.has_value()) << bytes;
        EXPECT_EQ(outcome.error->fault, TapeFault::not_a_tape) << bytes;
        EXPECT_THAT(outcome.error->what(), HasSubstr("is not a tape"));
        EXPECT_THAT(outcome.error->what(), HasSubstr("--tape"));
    }
}

TEST_P(TapeIn, ANewerTapeNamesBothVersions) {
    const ReadOutcome outcome = read(record(R"({"tape":"kvtape","version":7,"anything":[]})"));
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(outcome.error->fault, TapeFault::newer_version);
    EXPECT_THAT(outcome.error->what(), HasSubstr("version 7"));
    EXPECT_THAT(outcome.error->what(), HasSubstr("version 1"));
    EXPECT_THAT(outcome.error->what(), HasSubstr("update kvtape"));
}

TEST_P(TapeIn, AHeaderThatMakesNoSenseIsCorruptAtRecord0) {
    for (const char* header :
         {R"({"tape":"kvtape"})", R"({"tape":"kvtape","version":0})",
          R"({"tape":"kvtape","version":"1"})", R"({"tape":"kvtape","version":1,"model":"m"})"}) {
        const ReadOutcome outcome = read(record(header));
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::corrupt) << header;
        EXPECT_THAT(outcome.error->what(), HasSubstr("record 0"));
    }
}

TEST_P(TapeIn, AMissingFileSaysWhatToDo) {
    EXPECT_THAT(error_text([&] { TapeReader reader(folder_ / "missing.tape"); }),
                HasSubstr("No such file"));
    EXPECT_THAT(error_text([&] { TapeReader reader(folder_ / "."); }), HasSubstr("directory"));
}

// ---- damaged records --------------------------------------------------------------------------

TEST_P(TapeIn, ADamagedRecordIsNamedAndTheStepsBeforeItAreRead) {
    const Bytes bytes = small_tape(4);
    std::string damaged = bytes.all;
    damaged[bytes.ends[2]] = 'x';  // the first byte of record 3, which is step 2
    const ReadOutcome outcome = read(damaged);
    EXPECT_EQ(outcome.steps.size(), 2u);
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(outcome.error->fault, TapeFault::corrupt);
    EXPECT_EQ(outcome.error->byte, static_cast<std::int64_t>(bytes.ends[2]));
    EXPECT_THAT(outcome.error->what(), HasSubstr("corrupt at record 3"));
    EXPECT_THAT(outcome.error->what(), HasSubstr("2 steps before it can be read"));
}

TEST_P(TapeIn, ACorruptTapeStaysCorrupt) {
    const Bytes bytes = small_tape(1);
    write_file(path(), bytes.all.substr(0, bytes.ends[1]) + "xyz");
    TapeReader reader(path());
    Step step;
    EXPECT_EQ(reader.next(step), TapeReader::Next::step);
    EXPECT_THROW(reader.next(step), TapeError);
    EXPECT_THROW(reader.next(step), TapeError);
}

TEST_P(TapeIn, AnyOneByteChangedNeverCrashes) {
    const Bytes bytes = small_tape(2);
    Random random(7);
    for (std::size_t at = 0; at < bytes.all.size(); ++at) {
        for (int times = 0; times < 3; ++times) {
            std::string damaged = bytes.all;
            damaged[at] = static_cast<char>(random.next());
            const ReadOutcome outcome = read(damaged);
            EXPECT_TRUE(outcome.ended || outcome.error.has_value());
            EXPECT_LE(outcome.steps.size(), 2u);
        }
    }
}

TEST_P(TapeIn, MissingRepeatedAndExtraRecordsAreNoticed) {
    const Bytes bytes = small_tape(3);
    const auto part = [&](std::size_t first, std::size_t last) {  // records [first, last)
        const std::size_t begin = first == 0 ? 0 : bytes.ends[first - 1];
        return bytes.all.substr(begin, bytes.ends[last - 1] - begin);
    };
    EXPECT_TRUE(read(part(0, 5)).ended);
    EXPECT_EQ(read(part(0, 2) + part(3, 5)).error->fault, TapeFault::corrupt);  // step 1 is gone
    EXPECT_EQ(read(part(0, 3) + part(2, 5)).error->fault, TapeFault::corrupt);  // twice
    EXPECT_EQ(read(part(0, 3) + part(4, 5)).error->fault, TapeFault::corrupt);  // the last is gone
    EXPECT_EQ(read(part(0, 5) + part(4, 5)).error->fault, TapeFault::corrupt);  // after the end
    EXPECT_EQ(read(part(0, 5) + "\n").error->fault, TapeFault::corrupt);
}

// Every field of a step, spoiled in turn: a clear error or, where the value is still possible, a
// step; never a crash.
TEST_P(TapeIn, StepsThatMakeNoSenseAreRefused) {
    const std::string head = small_tape(0).all.substr(0, small_tape(0).ends[0]);
    const Json good = to_json(small_step(0), small_header().shape);
    EXPECT_EQ(read(head + record(good.dump())).steps.size(), 1u);

    const auto refused = [&](const Json& step, const std::string& why) {
        const ReadOutcome outcome = read(head + record(step.dump()));
        ASSERT_TRUE(outcome.error.has_value()) << why;
        EXPECT_EQ(outcome.error->fault, TapeFault::corrupt) << why << ": " << step.dump();
    };
    for (const auto& [key, value] : good.items()) {
        for (const Json& wrong : {Json("text"), Json(-1), Json(1.5), Json(nullptr), Json(true),
                                  Json(Json::array({1, 2})), Json(INT64_MAX), Json(UINT64_MAX)}) {
            Json step = good;
            step[key] = wrong;
            refused(step, key);
        }
    }
    for (const char* required :
         {"step", "lane", "phase", "writes", "reads", "flops", "kv_bytes", "wall_ns"}) {
        Json step = good;
        step.erase(required);
        refused(step, std::string("without ") + required);
    }
    for (const char* list : {"writes", "reads"}) {
        for (std::size_t column = 0; column < good[list][0].size(); ++column) {
            for (const Json& wrong : {Json(-1), Json(std::int64_t{1} << 41), Json(INT64_MAX),
                                      Json(INT64_MIN), Json("x"), Json(1e300)}) {
                Json step = good;
                step[list][0][column] = wrong;
                refused(step, std::string(list) + " column " + std::to_string(column));
            }
        }
    }
    Json step = good;
    step["reads"][0][12] = false;  // as a full read, this one is still in range
    EXPECT_EQ(read(head + record(step.dump())).steps.size(), 1u);
}

TEST_P(TapeIn, UnknownKeysAreIgnored) {
    const Bytes bytes = small_tape(0);
    Json step = to_json(small_step(0), small_header().shape);
    step["temperature"] = 0.7;
    EXPECT_EQ(read(bytes.all.substr(0, bytes.ends[0]) + record(step.dump())).steps.size(), 1u);
}

// ---- hostile records --------------------------------------------------------------------------

TEST_P(TapeIn, ABoxOfTooManyRunsIsRefusedBeforeItUnfolds) {
    TapeHeader header = small_header();
    header.shape = {max_rows_per_token / 8, 8, 4, 4, 4, 16, 32};
    const std::string head = record(to_json(header).dump());
    const Json box = Json::parse(R"([0,0,8192,0,4,"kv",0,1,0])");
    Json step = to_json(small_step(0), small_header().shape);
    step["writes"] = Json::array();
    for (std::int64_t runs = 0; runs <= max_runs_per_step; runs += max_rows_per_token) {
        step["writes"].push_back(box);
    }
    const ReadOutcome outcome = read(head + record(step.dump()));
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_THAT(outcome.error->what(), HasSubstr("more than 4194304 runs"));
}

TEST_P(TapeIn, AModelOfTooManyLayersAndHeadsIsRefused) {
    TapeHeader header = small_header();
    header.shape = {1 << 20, 8, 2, 2, 4, 16, 32};
    const ReadOutcome outcome = read(record(to_json(header).dump()));
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_THAT(outcome.error->what(),
                HasSubstr("2 * layers * kv_heads is 4194304; it must be between 1 and 65536"));
}

// One box that unfolds to many runs, each over many blocks.
TEST_P(TapeIn, AStepThatTouchesTooManyBlocksIsRefused) {
    TapeHeader header = small_header();
    header.max_model_len = 0;
    header.shape = {max_rows_per_token / 8, 8, 4, 4, 4, 16, 32};
    header.lanes = {{"paged", "cpu", "paged", KvDtype::f32, 2, 1 << 20}};
    const std::string head = record(to_json(header).dump());
    const auto of_tokens = [&](std::int64_t tokens) {
        Step step = small_step(0);
        step.spans[0].tokens.assign(static_cast<std::size_t>(tokens), {1, ""});
        step.reads.clear();
        Json json = to_json(step, header.shape);
        json["writes"] = Json::array();
        json["writes"].push_back({0, 0, header.shape.layers, 0, 4, "kv", 0, tokens, 0});
        return head + record(json.dump());
    };
    EXPECT_EQ(read(of_tokens(512)).steps.size(), 1u);
    const ReadOutcome outcome = read(of_tokens(513));
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_THAT(outcome.error->what(),
                HasSubstr("the number of blocks that the write runs touch is 16842752; it must be "
                          "between 0 and 16777216"));
}

TEST_P(TapeIn, AnObjectOfTooManyKeysIsRefused) {
    const Json step = to_json(small_step(0), small_header().shape);
    Json header = to_json(small_header());
    const auto with_keys = [](Json object, std::size_t keys) {
        while (object.size() < keys) object["key " + std::to_string(object.size())] = "a:b,c";
        return object;
    };
    header["shape"] = with_keys(header["shape"], 64);
    const std::string head = record(header.dump());
    Json nested = step;
    nested["spans"][0] = with_keys(step["spans"][0], 64);
    EXPECT_EQ(read(head + record(with_keys(nested, 64).dump())).steps.size(), 1u);

    const auto refused = [&](const std::string& bytes) {
        const ReadOutcome outcome = read(bytes);
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_THAT(outcome.error->what(), HasSubstr("an object of more than 64 keys"));
    };
    header["shape"] = with_keys(header["shape"], 65);
    refused(record(header.dump()));
    refused(head + record(with_keys(step, 65).dump()));
    nested["spans"][0] = with_keys(step["spans"][0], 65);
    refused(head + record(nested.dump()));
}

TEST(TapeReader, DeepNestingIsRefused) {
    const Folder folder;
    for (const char* open : {"[", "{\"a\":"}) {
        std::string text = R"({"tape":"kvtape","version":1,"x":)";
        for (int i = 0; i < 1000000; ++i) text += open;
        write_file(folder / "deep.jsonl", text + "\n");
        const ReadOutcome outcome = read_tape(folder / "deep.jsonl");
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_THAT(outcome.error->what(), HasSubstr("deep"));
    }
    // In CBOR: lists, maps, tags, and strings of unknown length, a million deep each.
    for (const char* level : {"\x81", "\xa1\x61\x61", "\xc1", "\x5f", "\x7f", "\x9f", "\xbf"}) {
        std::string payload = std::string("\xa2\x64tape\x66kvtape\x61x");
        for (int i = 0; i < 1000000; ++i) payload += level;
        std::string bytes = "\xd8\x18\x5a";
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes += static_cast<char>(payload.size() >> shift & 0xff);
        }
        write_file(folder / "deep.tape", bytes + payload);
        const ReadOutcome outcome = read_tape(folder / "deep.tape");
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::corrupt);
    }
}

TEST(TapeReader, CborLengthsThatLieAreRefused) {
    const Folder folder;
    write_file(folder / "huge.tape", "\xd8\x18\x5a\xff\xff\xff\xff\xa1\x64tape\x66kvtape");
    EXPECT_EQ(read_tape(folder / "huge.tape").error->fault, TapeFault::corrupt);
    // A list and a text that claim 2^63 elements, in a record of few bytes.
    for (const std::string claim : {"\x9b\x7f", "\xbb\x7f", "\x7b\x7f", "\x9a\xff"}) {
        const std::string payload =
            std::string("\xa2\x64tape\x66kvtape\x61x", 15) + claim + std::string(7, '\x01');
        const std::string length(1, static_cast<char>(payload.size()));
        write_file(folder / "lie.tape", std::string("\xd8\x18\x5a\0\0\0", 6) + length + payload);
        const ReadOutcome outcome = read_tape(folder / "lie.tape");
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::corrupt);
    }
}

TEST(TapeReader, ARecordOfTooManyValuesIsRefused) {
    const Folder folder;
    std::string text = R"({"tape":"kvtape","version":1,"x":[)";
    for (std::int64_t i = 0; i <= max_record_values; ++i) text += "0,";
    write_file(folder / "many.jsonl", text + "0]}\n");
    EXPECT_THAT(read_tape(folder / "many.jsonl").error->what(), HasSubstr("values"));
}

TEST(TapeReader, AnEndlessLineIsRefused) {
    const Folder folder;
    std::string text = R"({"tape":"kvtape","version":1,"x":")";
    text.append(static_cast<std::size_t>(max_record_bytes), 'a');
    write_file(folder / "line.jsonl", text);
    EXPECT_EQ(read_tape(folder / "line.jsonl").error->fault, TapeFault::corrupt);
}

// ---- tapes that still grow --------------------------------------------------------------------

TEST_P(TapeIn, FollowingWaitsForWhatIsNotThereYet) {
    const Bytes bytes = small_tape(3);
    write_file(path(), "");
    TapeReader reader(path(), TapeReader::Mode::follow);
    EXPECT_FALSE(reader.has_header());
    std::vector<Step> steps;
    Step step;
    for (std::size_t i = 0; i < bytes.all.size(); ++i) {  // one byte at a time
        ASSERT_EQ(reader.next(step), TapeReader::Next::incomplete);
        append_file(path(), bytes.all.substr(i, 1));
        const TapeReader::Next next = reader.next(step);
        const std::size_t size = i + 1;
        ASSERT_EQ(reader.has_header(), size >= bytes.ends[0]);
        if (size == bytes.all.size()) {
            ASSERT_EQ(next, TapeReader::Next::end);
        } else if (std::count(bytes.ends.begin() + 1, bytes.ends.end(), size) == 1) {
            ASSERT_EQ(next, TapeReader::Next::step);
            steps.push_back(step);
        } else {
            ASSERT_EQ(next, TapeReader::Next::incomplete);
        }
    }
    ASSERT_EQ(steps.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(same(steps[i], small_step(static_cast<std::int64_t>(i))));
    }
    EXPECT_EQ(reader.next(step), TapeReader::Next::end);
}

TEST_P(TapeIn, FollowingAWriterSeesEveryStepOnce) {
    constexpr std::int64_t count = 60;
    std::thread writing([&] {
        TapeWriter writer(path(), small_header());
        for (std::int64_t i = 0; i < count; ++i) {
            writer.write(small_step(i));
            if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        writer.close();
    });
    while (!std::filesystem::exists(path())) std::this_thread::yield();
    TapeReader reader(path(), TapeReader::Mode::follow);
    Step step;
    std::int64_t seen = 0;
    for (;;) {
        const TapeReader::Next next = reader.next(step);
        if (next == TapeReader::Next::end) break;
        if (next == TapeReader::Next::incomplete) {
            std::this_thread::yield();
        } else {
            EXPECT_TRUE(same(step, small_step(seen++)));
        }
    }
    writing.join();
    EXPECT_EQ(seen, count);
}

TEST_P(TapeIn, FollowingNoticesThatTheTapeWasWrittenAnew) {
    const Bytes bytes = small_tape(3);
    write_file(path(), bytes.all.substr(0, bytes.ends[2]));
    TapeReader reader(path(), TapeReader::Mode::follow);
    Step step;
    while (reader.next(step) == TapeReader::Next::step) {
    }
    write_file(path(), bytes.all.substr(0, bytes.ends[0]));
    for (int times = 0; times < 2; ++times) expect_written_anew([&] { reader.next(step); });

    write_file(path(), bytes.all.substr(0, bytes.ends[0] - 1));
    TapeReader without_header(path(), TapeReader::Mode::follow);
    write_file(path(), bytes.all.substr(0, 4));
    expect_written_anew([&] { without_header.next(step); });
}

// The file is short, so all of it was fetched with the header; after its last record the reader
// looks whether more follows.
TEST_P(TapeIn, ATapeThatWasWrittenAnewIsNoticedAtItsEnd) {
    const Bytes bytes = small_tape(1);
    write_file(path(), bytes.all);
    TapeReader reader(path());
    write_file(path(), bytes.all.substr(0, bytes.ends[0]));
    Step step;
    ASSERT_EQ(reader.next(step), TapeReader::Next::step);
    expect_written_anew([&] { reader.next(step); });
}

TEST_P(TapeIn, FollowingStillRefusesDamage) {
    const Bytes bytes = small_tape(1);
    write_file(path(), bytes.all.substr(0, bytes.ends[1]) + "zzzzzzzz");
    TapeReader reader(path(), TapeReader::Mode::follow);
    Step step;
    EXPECT_EQ(reader.next(step), TapeReader::Next::step);
    EXPECT_THROW(reader.next(step), TapeError);
}

}  // namespace
}  // namespace kvtape
