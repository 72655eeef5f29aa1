// Tapes in a folder of their own, whole and damaged, and what a reader makes of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tracer/tape_reader.h"
#include "tracer/tape_writer.h"

namespace kvtape::test {

// An empty folder that goes away with the test.
class Folder {
  public:
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "kvtape_test_XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

inline std::string file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline void append_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

// All that can be read from a tape.
struct ReadOutcome {
    std::vector<Step> steps;
    bool ended = false;              // with its end record
    std::optional<TapeError> error;  // truncated ones included
    std::string end_reason;
};

inline ReadOutcome read_tape(const std::string& path) {
    ReadOutcome outcome;
    try {
        TapeReader reader(path);
        Step step;
        TapeReader::Next next;
        while ((next = reader.next(step)) == TapeReader::Next::step) outcome.steps.push_back(step);
        outcome.ended = next == TapeReader::Next::end;
        outcome.end_reason = reader.end_reason();
        if (next == TapeReader::Next::incomplete) outcome.error.emplace(reader.truncation());
    } catch (const TapeError& error) {
        outcome.error.emplace(error);
    }
    if (outcome.error) {
        const std::string message = outcome.error->what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_EQ(outcome.error->steps_before, static_cast<std::int64_t>(outcome.steps.size()));
    }
    return outcome;
}

// Equal to the last bit; a NaN equals any other NaN.
inline bool same_bits(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

inline bool same(const Step& a, const Step& b) {
    bool equal = a.index == b.index && a.lane == b.lane && a.phase == b.phase &&
                 a.writes == b.writes && a.reads == b.reads && a.flops == b.flops &&
                 a.kv_bytes_written == b.kv_bytes_written && a.kv_bytes_read == b.kv_bytes_read &&
                 a.kv_bytes_held == b.kv_bytes_held && a.pool == b.pool && a.rows == b.rows &&
                 a.queue == b.queue && a.wall_ns == b.wall_ns && a.spans.size() == b.spans.size() &&
                 a.losses.size() == b.losses.size() && a.attention.size() == b.attention.size();
    for (std::size_t i = 0; equal && i < a.spans.size(); ++i) {
        const SpanRecord &x = a.spans[i], &y = b.spans[i];
        equal = x.sequence == y.sequence && x.first_position == y.first_position &&
                x.tokens == y.tokens && x.logit_rows == y.logit_rows &&
                x.sampled.size() == y.sampled.size();
        for (std::size_t k = 0; equal && k < x.sampled.size(); ++k) {
            equal = x.sampled[k].token == y.sampled[k].token &&
                    same_bits(x.sampled[k].logit, y.sampled[k].logit) &&
                    same_bits(x.sampled[k].margin, y.sampled[k].margin);
        }
    }
    for (std::size_t i = 0; equal && i < a.losses.size(); ++i) {
        const StoreLoss &x = a.losses[i], &y = b.losses[i];
        equal = x.layer == y.layer && x.saturated == y.saturated && x.non_finite == y.non_finite &&
                same_bits(x.worst_relative_error, y.worst_relative_error);
    }
    for (std::size_t i = 0; equal && i < a.attention.size(); ++i) {
        const AttentionWeights &x = a.attention[i], &y = b.attention[i];
        equal = x.sequence == y.sequence && x.layer == y.layer && x.head == y.head &&
                x.query == y.query && x.weights.size() == y.weights.size();
        for (std::size_t k = 0; equal && k < x.weights.size(); ++k) {
            equal = same_bits(x.weights[k], y.weights[k]);
        }
    }
    return equal;
}

// One lane with a contiguous cache, and a decode step at each position: 2 layers, 2 KV heads.
inline TapeHeader small_header() {
    TapeHeader header;
    header.model = "small";
    header.shape = {2, 8, 4, 2, 4, 16, 32};
    header.max_model_len = 64;
    header.lanes = {{"contiguous", "cpu", "contiguous", KvDtype::f32, 0, 0}};
    return header;
}

inline Step small_step(std::int64_t index, const std::string& bytes = "x") {
    Step step;
    step.index = index;
    step.phase = index == 0 ? Phase::prefill : Phase::decode;
    step.spans = {{0, index, {{1, bytes}}, 1, {{{2, "y"}, 1.5f, 0.25f}}}};
    for (std::int32_t layer = 0; layer < 2; ++layer) {
        for (std::int32_t head = 0; head < 2; ++head) {
            for (const Kind kind : {Kind::key, Kind::value}) {
                step.writes.push_back({0, layer, head, kind, index, index + 1, index});
                step.reads.push_back({0, layer, head, head * 2, head * 2 + 2, kind, index,
                                      index + 1, 0, index + 1, true});
            }
        }
    }
    step.flops[Component::mlp] = 1000 + index;
    step.kv_bytes_written = 128;
    step.kv_bytes_read = step.kv_bytes_held = 128 * (index + 1);
    step.wall_ns = 5;
    return step;
}

// Writes `steps` small steps and the end record.
inline void write_small_tape(const std::string& path, std::int64_t steps,
                             const std::string& reason = "") {
    TapeWriter writer(path, small_header());
    for (std::int64_t i = 0; i < steps; ++i) writer.write(small_step(i));
    writer.close(reason);
}

}  // namespace kvtape::test
