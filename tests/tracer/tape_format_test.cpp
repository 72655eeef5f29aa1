// The spelling of a tape: golden bytes, and nothing changes on the way out and back.
#include "tracer/tape_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/random.h"
#include "support/error_text.h"
#include "support/synthetic_engine.h"
#include "support/tape_files.h"
#include "tracer/tape_limits.h"
#include "tracer/utf8.h"

namespace kvtape {
namespace {

using ::testing::HasSubstr;
using namespace test;

constexpr TapeEncoding encodings[] = {TapeEncoding::json_lines, TapeEncoding::cbor_sequence};

// Through the bytes of an encoding and back.
Json through(const Json& record, TapeEncoding encoding) {
    const std::string bytes = encode_record(record, encoding);
    const Framed framed = find_record(bytes, encoding);
    EXPECT_EQ(framed.state, Framed::State::whole);
    EXPECT_EQ(framed.size, bytes.size());
    return decode_record(framed.payload, encoding);
}

Step through(const Step& step, const TapeHeader& header, TapeEncoding encoding) {
    return step_from_json(through(to_json(step, header.shape), encoding), header);
}

// ---- golden bytes -----------------------------------------------------------------------------

// clang-format off
const std::string golden_json =
    R"({"tape":"kvtape","version":1,"model":"small","shape":{"layers":2,"hidden":8,)"
    R"("heads":4,"kv_heads":2,"head_dim":4,"ffn":16,"vocab":32},"max_model_len":64,)"
    R"("lanes":[{"name":"contiguous","backend":"cpu","cache":"contiguous",)"
    R"("kv_cache_dtype":"f32","block_size":0,"blocks":0}],"write_columns":["sequence",)"
    R"("layer_begin","layer_end","kv_head_begin","kv_head_end","kinds","position_begin",)"
    R"("position_end","slot_begin"],"read_columns":["sequence","layer_begin","layer_end",)"
    R"("kv_head_begin","kv_head_end","kinds","group_head_begin","group_head_end",)"
    R"("query_begin","query_end","key_begin","key_end","causal"],)"
    R"("flop_columns":["projections","mlp","attention","head","softmax","norm","rope",)"
    R"("activation","residual"]})" "\n"
    R"({"step":0,"lane":0,"phase":"prefill","spans":[{"sequence":0,"first_position":0,)"
    R"("tokens":[{"id":1,"text":"x"}],"logit_rows":1,"sampled":{"id":2,"text":"y",)"
    R"("logit":1.5,"margin":0.25}}],"writes":[[0,0,2,0,2,"kv",0,1,0]],"reads":[[0,0,2,0,2,)"
    R"("kv",0,2,0,1,0,1,true]],"flops":[0,1000,0,0,0,0,0,0,0],"kv_bytes":{"written":128,)"
    R"("read":128,"held":128},"wall_ns":5})" "\n"
    R"({"end":"complete","steps":1})" "\n";
// clang-format on

std::string from_hex(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
    }
    return bytes;
}

const std::string golden_cbor = from_hex(
    "d8185a00000231a96474617065666b76746170656776657273696f6e01656d6f64656c65736d616c6c657368"
    "617065a7666c6179657273026668696464656e0865686561647304686b765f68656164730268686561645f64"
    "696d046366666e1065766f63616218206d6d61785f6d6f64656c5f6c656e1840656c616e657381a6646e616d"
    "656a636f6e746967756f7573676261636b656e64636370756563616368656a636f6e746967756f75736e6b76"
    "5f63616368655f6474797065636633326a626c6f636b5f73697a650066626c6f636b73006d77726974655f63"
    "6f6c756d6e73896873657175656e63656b6c617965725f626567696e696c617965725f656e646d6b765f6865"
    "61645f626567696e6b6b765f686561645f656e64656b696e64736e706f736974696f6e5f626567696e6c706f"
    "736974696f6e5f656e646a736c6f745f626567696e6c726561645f636f6c756d6e738d6873657175656e6365"
    "6b6c617965725f626567696e696c617965725f656e646d6b765f686561645f626567696e6b6b765f68656164"
    "5f656e64656b696e64737067726f75705f686561645f626567696e6e67726f75705f686561645f656e646b71"
    "756572795f626567696e6971756572795f656e64696b65795f626567696e676b65795f656e64666361757361"
    "6c6c666c6f705f636f6c756d6e73896b70726f6a656374696f6e73636d6c7069617474656e74696f6e646865"
    "616467736f66746d6178646e6f726d64726f70656a61637469766174696f6e68726573696475616c"
    "d8185a000000f0a9647374657000646c616e65006570686173656770726566696c6c657370616e7381a56873"
    "657175656e6365006e66697273745f706f736974696f6e0066746f6b656e7381a26269640164746578746178"
    "6a6c6f6769745f726f7773016773616d706c6564a46269640264746578746179656c6f676974fa3fc0000066"
    "6d617267696efa3e8000006677726974657381890000020002626b76000100657265616473818d0000020002"
    "626b76000200010001f565666c6f707389001903e800000000000000686b765f6279746573a3677772697474"
    "656e1880647265616418806468656c6418806777616c6c5f6e7305"
    "d8185a00000015a263656e6468636f6d706c65746565737465707301");

// A change of these bytes is a change of the format and needs a new version.
TEST(TapeFormat, GoldenBytes) {
    const Folder folder;
    write_small_tape(folder / "a.jsonl", 1);
    EXPECT_EQ(file_bytes(folder / "a.jsonl"), golden_json);
    write_small_tape(folder / "a.tape", 1);
    EXPECT_EQ(file_bytes(folder / "a.tape"), golden_cbor);
}

TEST(TapeFormat, GoldenBytesAreRead) {
    const Folder folder;
    write_file(folder / "a", golden_json);
    write_file(folder / "b", golden_cbor);
    for (const std::string name : {"a", "b"}) {
        TapeReader reader(folder / name);
        EXPECT_EQ(reader.header(), small_header());
        Step step;
        ASSERT_EQ(reader.next(step), TapeReader::Next::step);
        EXPECT_TRUE(same(step, small_step(0)));
        EXPECT_EQ(reader.next(step), TapeReader::Next::end);
    }
}

// ---- floats -----------------------------------------------------------------------------------

float restored(float value, TapeEncoding encoding) {
    Step step = small_step(0);
    step.spans[0].sampled[0].logit = value;
    return through(step, small_header(), encoding).spans[0].sampled[0].logit;
}

// PC-TV-01
TEST(TapeFormat, NonFiniteValuesAreStringsAndStayDistinct) {
    const float infinity = std::numeric_limits<float>::infinity();
    Step step = small_step(0);
    step.attention = {{0, 1, 3, 0, {std::numeric_limits<float>::quiet_NaN()}}};
    step.losses = {{0, 1, 2, -infinity}};
    step.spans[0].sampled[0].logit = infinity;
    const std::string line = to_json(step, small_header().shape).dump();
    EXPECT_THAT(line, HasSubstr(R"("logit":"Infinity")"));
    EXPECT_THAT(line, HasSubstr(R"("worst_relative_error":"-Infinity")"));
    EXPECT_THAT(line, HasSubstr(R"("weights":["NaN"])"));
    EXPECT_TRUE(Json::accept(line));
    for (const TapeEncoding encoding : encodings) {
        EXPECT_TRUE(same(through(step, small_header(), encoding), step));
        EXPECT_EQ(restored(infinity, encoding), infinity);
        EXPECT_EQ(restored(-infinity, encoding), -infinity);
        EXPECT_TRUE(std::isnan(restored(-std::numeric_limits<float>::quiet_NaN(), encoding)));
    }
}

TEST(TapeFormat, FloatsAreExact) {
    Random random(5);
    std::vector<float> values = {0.0f, -0.0f, 0.1f, 1.0f / 3, 1e-45f, 16777216.0f, 3.4028235e38f};
    for (int i = 0; i < 500; ++i) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.next())));
    }
    for (const float value : values) {
        for (const TapeEncoding encoding : encodings) {
            EXPECT_TRUE(same_bits(restored(value, encoding), value)) << value;
        }
    }
}

// ---- tokens -----------------------------------------------------------------------------------

// PC-TV-02
TEST(TapeFormat, HalfACharacterIsKept) {
    const std::vector<std::string> tokens = {
        "\xe7\x99", "\xba", std::string(1, '\\'), std::string(1, '\0'), "\"\n\x1f\x7f",
        "\xff\xfe", ""};
    for (const TapeEncoding encoding : encodings) {
        const Folder folder;
        const bool json = encoding == TapeEncoding::json_lines;
        const std::string path = folder / (json ? "a.jsonl" : "a.tape");
        {
            TapeWriter writer(path, small_header());
            std::int64_t index = 0;
            for (const std::string& token : tokens) writer.write(small_step(index++, token));
        }  // the run stops here
        const ReadOutcome outcome = read_tape(path);
        ASSERT_EQ(outcome.steps.size(), tokens.size());
        std::string joined;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            EXPECT_EQ(outcome.steps[i].spans[0].tokens[0].bytes, tokens[i]);
            if (i < 2) joined += outcome.steps[i].spans[0].tokens[0].bytes;
        }
        EXPECT_EQ(joined, "\u767a");
        if (!json) continue;
        const std::string bytes = file_bytes(path);
        EXPECT_TRUE(is_utf8(bytes));
        EXPECT_THAT(bytes, HasSubstr("{\"id\":1,\"text\":\"\ufffd\",\"bytes\":\"e799\"}"));
        EXPECT_THAT(bytes, HasSubstr(R"({"id":1,"text":"\\"})"));
        EXPECT_THAT(bytes, HasSubstr(R"({"id":1,"text":"\u0000"})"));
        std::istringstream lines(bytes);
        for (std::string line; std::getline(lines, line);) EXPECT_TRUE(Json::accept(line)) << line;
    }
}

TEST(TapeFormat, BadHexIsRefused) {
    for (const char* bytes : {"e79", "zz", "E7", "e7 "}) {
        Json json = to_json(small_step(0), small_header().shape);
        json["spans"][0]["tokens"][0]["bytes"] = bytes;
        EXPECT_THAT(error_text([&] { step_from_json(json, small_header()); }), HasSubstr("bytes"));
    }
}

TEST(TapeFormat, StoredRowsThatMakeNoSenseAreRefused) {
    const TapeHeader header = small_header();
    const auto row_bytes = static_cast<std::size_t>(
        header.shape.head_dim * bytes_per_element(header.lanes[0].kv_cache_dtype));
    const std::int64_t position = small_step(0).spans[0].first_position;
    const StoredRows good{0, 0, 0, Kind::key, position, std::string(row_bytes, '\x01')};
    const auto json_with = [&](std::vector<StoredRows> rows) {
        Step step = small_step(0);
        step.rows = std::move(rows);
        return to_json(step, header.shape);
    };
    EXPECT_EQ(step_from_json(json_with({good}), header).rows, std::vector{good});

    const auto refused = [&](auto spoil) {
        StoredRows bad = good;
        spoil(bad);
        EXPECT_THAT(error_text([&] { step_from_json(json_with({bad}), header); }),
                    HasSubstr("stored rows"));
    };
    refused([](StoredRows& r) { r.layer = 2; });
    refused([](StoredRows& r) { r.kv_head = -1; });
    refused([](StoredRows& r) { r.sequence = 1; });
    refused([](StoredRows& r) { r.position_begin -= 1; });
    refused([](StoredRows& r) { r.position_begin = INT64_MAX; });
    refused([](StoredRows& r) { r.codes += r.codes; });  // beyond the span
    refused([](StoredRows& r) { r.codes.pop_back(); });
    refused([](StoredRows& r) { r.codes.clear(); });

    EXPECT_THAT(error_text([&] {
                    step_from_json(json_with({good, good}), header);
                }),
                HasSubstr("order"));
    StoredRows of_values = good;
    of_values.kind = Kind::value;
    EXPECT_THAT(error_text([&] {
                    step_from_json(json_with({of_values, good}), header);
                }),
                HasSubstr("order"));
    EXPECT_EQ(step_from_json(json_with({good, of_values}), header).rows.size(), 2u);

    Json json = json_with({good});
    json["rows"][0]["codes"] = "0g";
    EXPECT_THAT(error_text([&] { step_from_json(json, header); }), HasSubstr("codes"));
    json = json_with({good});
    json["rows"][0]["kind"] = "x";
    EXPECT_THAT(error_text([&] { step_from_json(json, header); }), HasSubstr("kind"));
}

// 32 layers, 8 KV heads of 128 numbers in f32: 256 KiB a token, so that 64 of them are a quarter of
// a record, and twice that in hex digits.
TEST(TapeFormat, NumbersAreKeptOnlyIfTheyFitIntoARecord) {
    const ModelShape shape{32, 4096, 32, 8, 128, 14336, 128256};
    EXPECT_TRUE(row_values_fit(shape, KvDtype::f32, 64));
    EXPECT_FALSE(row_values_fit(shape, KvDtype::f32, 65));
    EXPECT_TRUE(row_values_fit(shape, KvDtype::fp8_e4m3, 256));
    EXPECT_TRUE(row_values_fit(shape, KvDtype::f32, 0));

    Step step = small_step(0);
    const auto row_bytes = static_cast<std::size_t>(small_header().shape.head_dim * 4);
    step.rows = {{0, 0, 0, Kind::key, 0, std::string(row_bytes, 'x')}};
    const std::string line = to_json(step, small_header().shape)["rows"][0]["codes"];
    EXPECT_EQ(line.size(), 2 * row_bytes);
}

// ---- everything -------------------------------------------------------------------------------

TEST(TapeFormat, SyntheticStepsWithRandomExtrasSurvive) {
    Random random(6);
    const auto any_float = [&] {
        return std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    };
    for (const char* cache : {"none", "contiguous", "paged"}) {
        SyntheticEngine engine(cache, 1);
        engine.run(30);
        for (Step step : engine.steps) {
            for (SpanRecord& span : step.spans) {
                for (TokenText& token : span.tokens) {
                    token.bytes.clear();
                    for (std::uint64_t n = random.next() % 5; n > 0; --n) {
                        token.bytes += static_cast<char>(random.next());
                    }
                }
                span.sampled = {{{7, "\xf0\x9f"}, any_float(), any_float()}};
                AttentionWeights weights{span.sequence, 1, 2, span.first_position, {}};
                for (std::int64_t i = 0; i <= weights.query; ++i) {
                    weights.weights.push_back(any_float());
                }
                step.attention.push_back(weights);
            }
            const std::int64_t row_bytes = engine.header.shape.head_dim *
                                           bytes_per_element(engine.header.lanes[0].kv_cache_dtype);
            for (const SpanRecord& span : step.spans) {
                StoredRows rows{span.sequence, 1, 0, Kind::value, span.first_position, {}};
                for (std::int64_t n = std::ssize(span.tokens) * row_bytes; n > 0; --n) {
                    rows.codes += static_cast<char>(random.next());
                }
                step.rows.push_back(rows);
            }
            std::sort(step.rows.begin(), step.rows.end(),
                      [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
            step.losses = {{1, std::int64_t{1} << 53, 3, any_float()}};
            step.queue = {1, 2, (std::int64_t{1} << 53) + 1};
            step.wall_ns = (std::int64_t{1} << 57) + 1;  // not a double
            step.flops[Component::norm] = (std::int64_t{1} << 55) + 1;
            for (const TapeEncoding encoding : encodings) {
                EXPECT_TRUE(same(through(step, engine.header, encoding), step));
            }
        }
    }
}

TEST(TapeFormat, HeadersSurvive) {
    TapeHeader header = small_header();
    header.model = "m\u00f6del \"7\"";
    header.lanes.push_back({"paged", "cuda", "paged", KvDtype::fp8_e5m2, 16, 64000});
    header.lanes.push_back({"none", "cpu", "none", KvDtype::bf16, 0, 0});
    header.lanes.push_back({"scaled", "cpu", "none", KvDtype::fp8_e4m3, 0, 0, 0.3f});
    for (const TapeEncoding encoding : encodings) {
        EXPECT_EQ(header_from_json(through(to_json(header), encoding)), header);
    }
}

TEST(TapeFormat, HeadersThatMakeNoSenseAreRefused) {
    const auto refused = [](auto spoil) {
        TapeHeader header = small_header();
        spoil(header);
        error_text([&] { header_from_json(to_json(header)); });
    };
    refused([](TapeHeader& h) { h.lanes.clear(); });
    refused([](TapeHeader& h) { h.lanes.push_back(h.lanes[0]); });  // the same name
    refused([](TapeHeader& h) { h.lanes[0].cache = "ring"; });
    refused([](TapeHeader& h) { h.lanes[0].block_size = 16; });
    refused([](TapeHeader& h) { h.lanes[0].cache = "paged"; });  // without blocks
    refused([](TapeHeader& h) { h.shape.head_dim = 0; });
    refused([](TapeHeader& h) { h.lanes[0].kv_scale = 0; });
    refused([](TapeHeader& h) { h.shape.kv_heads = 3; });
    refused([](TapeHeader& h) { h.max_model_len = -1; });
}

// Runs that differ only in layer, head and kind share a line; so a step stays small.
TEST(TapeFormat, ADecodeStepOfASmallModelTakesFewBytes) {
    TapeHeader header = small_header();
    header.shape = {5, 128, 8, 2, 16, 384, 768};
    header.max_model_len = 1024;
    Step step;
    step.phase = Phase::decode;
    step.spans = {{0, 512, {{345, " the"}}, 1, {{{400, " cat"}, 12.345678f, 0.51234f}}}};
    for (std::int32_t layer = 0; layer < 5; ++layer) {
        for (std::int32_t head = 0; head < 2; ++head) {
            for (const Kind kind : {Kind::key, Kind::value}) {
                step.writes.push_back({0, layer, head, kind, 512, 513, 512});
                step.reads.push_back(
                    {0, layer, head, head * 4, head * 4 + 4, kind, 512, 513, 0, 513, true});
            }
        }
    }
    for (std::int64_t& flops : step.flops.of) flops = 1234567;
    step.kv_bytes_written = 1280;
    step.kv_bytes_read = step.kv_bytes_held = 655360;
    step.wall_ns = 1234567;
    const Json json = to_json(step, header.shape);
    EXPECT_EQ(json["writes"].size(), 1u);
    EXPECT_EQ(json["reads"].size(), 1u);
    EXPECT_LT(encode_record(json, TapeEncoding::json_lines).size(), 500u);
    EXPECT_LT(encode_record(json, TapeEncoding::cbor_sequence).size(), 350u);
}

TEST(TapeFormat, TheNameChoosesTheEncoding) {
    EXPECT_EQ(encoding_of("a.tape"), TapeEncoding::cbor_sequence);
    EXPECT_EQ(encoding_of("a.b.jsonl"), TapeEncoding::json_lines);
    EXPECT_THAT(error_text([] { encoding_of("a.json"); }), HasSubstr(".jsonl"));
}

}  // namespace
}  // namespace kvtape
