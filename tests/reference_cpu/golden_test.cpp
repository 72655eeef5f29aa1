// The shipped model against PyTorch: models/golden/logits.json has rows of logits in float64
// (rounded to float32) and greedy continuations by transformers, written by models/make_golden.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/decoder.h"
#include "support/rounding_bound.h"

namespace kvtape {
namespace {

class Golden : public testing::Test {
  protected:
    void SetUp() override {
        const std::string path = KVTAPE_SOURCE_DIR "/models/golden/logits.json";
        std::ifstream file(path);
        ASSERT_TRUE(file) << path << " is missing; models/make_golden.py writes it";
        cases_ = nlohmann::json::parse(file).at("cases");
        ASSERT_FALSE(cases_.empty());
    }

    // The distance that rounding explains, for logits of this size.
    double bound(std::int64_t tokens, double largest_logit) const {
        return rounding_bound(model_.config.shape, tokens, largest_logit);
    }

    Model<float> model_ = load_model(KVTAPE_SOURCE_DIR "/models/storyteller");
    Team team_{2};
    nlohmann::json cases_;
};

TEST_F(Golden, LogitsAgreeWithinRounding) {
    const ModelShape& shape = model_.config.shape;
    for (const auto& golden : cases_) {
        SCOPED_TRACE(golden.at("name").get<std::string>());
        const auto ids = golden.at("ids").get<std::vector<std::int32_t>>();
        const auto n = std::ssize(ids);
        ContiguousCache cache(shape, KvDtype::f32, n);
        NullTracer tracer;
        const auto logits = forward(model_, {{0, 0, ids, n}}, cache, tracer, team_).logits;
        for (const auto& row : golden.at("rows")) {
            const auto position = row.at("position").get<std::int64_t>();
            const auto expected = row.at("logits").get<std::vector<double>>();
            ASSERT_EQ(std::ssize(expected), shape.vocab);
            double largest = 0, largest_logit = 0;
            for (std::size_t id = 0; id < expected.size(); ++id) {
                const float logit = logits[static_cast<std::size_t>(position * shape.vocab) + id];
                const double difference = std::abs(static_cast<double>(logit) - expected[id]);
                if (!(difference <= largest)) largest = difference;  // keeps a NaN
                largest_logit = std::max(largest_logit, std::abs(expected[id]));
            }
            EXPECT_TRUE(largest <= bound(n, largest_logit))
                << "position " << position << ": off by " << largest;
            // That bound is for the worst case. What happens is nearer: another float32 program,
            // which adds in another order, is this far off, and we are not much farther.
            const auto other = row.at("transformers_float32_max_difference").get<double>();
            EXPECT_TRUE(largest <= 10 * other) << "position " << position << ": off by " << largest
                                               << ", transformers by " << other;
        }
    }
}

TEST_F(Golden, GreedyDecodingGoesOnAlike) {
    const ModelShape& shape = model_.config.shape;
    for (const auto& golden : cases_) {
        SCOPED_TRACE(golden.at("name").get<std::string>());
        const auto expected = golden.at("greedy_ids").get<std::vector<std::int32_t>>();
        const auto margins = golden.at("greedy_margins").get<std::vector<double>>();
        ASSERT_EQ(expected.size(), margins.size());
        Request request;
        request.prompt = golden.at("ids").get<std::vector<std::int32_t>>();
        request.max_tokens = std::ssize(expected);
        const std::int64_t length = std::ssize(request.prompt) + std::ssize(expected);
        ContiguousCache cache(shape, KvDtype::f32, length);
        NullTracer tracer;
        Decoder<NullTracer> decoder(model_, cache, tracer, team_, request, {length});
        std::size_t compared = 0;
        while (!decoder.finished()) {
            const PassReport& report = decoder.step();
            float largest_logit = 0;
            for (const float logit : report.logits) {
                largest_logit = std::max(largest_logit, std::abs(logit));
            }
            // After a near-tie the two may tell different stories.
            if (margins[compared] <= 2 * bound(length, static_cast<double>(largest_logit))) break;
            ASSERT_EQ(decoder.generation().token_ids.back(), expected[compared])
                << "token " << compared;
            ++compared;
        }
        EXPECT_GE(compared, 20u);
    }
}

}  // namespace
}  // namespace kvtape
