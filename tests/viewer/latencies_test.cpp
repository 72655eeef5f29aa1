// Time to the first token and from token to token.
#include "viewer/latencies.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tape_on_show.h"

namespace kvtape {
namespace {

// A step of a made-up lane: who computes how many tokens from where, and whether one is sampled.
struct Part {
    std::int32_t sequence;
    std::int64_t first, tokens;
    bool sampled;
};

class Lanes {
  public:
    Lanes() {
        tape_.caches = {"contiguous"};
        show_.add_lane(tape_.header(), 0);
    }
    void step(Phase phase, std::int64_t wall_ns, const std::vector<Part>& parts) {
        Step step;
        step.index = show_.lanes()[0]->steps();
        step.phase = phase;
        step.wall_ns = wall_ns;
        for (const Part& part : parts) {
            SpanRecord span;
            span.sequence = part.sequence;
            span.first_position = part.first;
            span.tokens.resize(static_cast<std::size_t>(part.tokens));
            if (part.sampled) span.sampled.emplace_back();
            step.spans.push_back(span);
        }
        show_.lanes()[0]->add(step);
    }
    Latencies of(std::int32_t sequence) const { return latencies_of(*show_.lanes()[0], sequence); }
    const Show& show() const { return show_; }

  private:
    SyntheticTape tape_;
    Show show_;
};

TEST(Latencies, AllChunksOfThePromptComeBeforeTheFirstToken) {
    Lanes lanes;
    lanes.step(Phase::prefill, 1000, {{0, 0, 4, false}});
    lanes.step(Phase::prefill, 500, {{0, 4, 2, true}});
    lanes.step(Phase::decode, 30, {{0, 6, 1, true}});
    lanes.step(Phase::decode, 10, {{0, 7, 1, true}});
    lanes.step(Phase::decode, 50, {{0, 8, 1, true}});
    const Latencies latencies = lanes.of(0);
    EXPECT_NEAR(latencies.first_token_s.value(), 1500e-9, 1e-15);
    EXPECT_TRUE(std::isnan(latencies.between_s[1]));
    EXPECT_NEAR(latencies.between_s[2], 30e-9, 1e-15);
    EXPECT_NEAR(latencies.median_s.value(), 30e-9, 1e-15);
    EXPECT_EQ(latencies.positions, (std::vector<double>{4, 6, 7, 8, 9}));
}

TEST(Latencies, TheMedianOfAnEvenCountLiesBetweenTwo) {
    Lanes lanes;
    lanes.step(Phase::prefill, 7, {{0, 0, 1, true}});
    for (const std::int64_t ns : {40, 10, 1000, 20}) {
        lanes.step(Phase::decode, ns, {{0, lanes.show().steps(), 1, true}});
    }
    EXPECT_NEAR(lanes.of(0).median_s.value(), 30e-9, 1e-15);
}

// A token waits for the steps of others that run in between: their prefill delays it.
TEST(Latencies, ASequenceWaitsForOthers) {
    Lanes lanes;
    lanes.step(Phase::prefill, 100, {{0, 0, 2, true}});
    lanes.step(Phase::prefill, 700, {{1, 0, 5, true}});
    lanes.step(Phase::decode, 10, {{0, 2, 1, true}, {1, 5, 1, true}});
    const Latencies first = lanes.of(0), second = lanes.of(1);
    EXPECT_NEAR(first.first_token_s.value(), 100e-9, 1e-15);
    EXPECT_NEAR(first.between_s[2], 710e-9, 1e-15);
    EXPECT_NEAR(second.first_token_s.value(), 700e-9, 1e-15);  // from its own first step on
    EXPECT_NEAR(second.between_s[2], 10e-9, 1e-15);
    EXPECT_TRUE(std::isnan(first.positions[1]));
}

TEST(Latencies, WithoutATokenThereIsNone) {
    Lanes lanes;
    lanes.step(Phase::prefill, 100, {{0, 0, 2, false}});
    EXPECT_FALSE(lanes.of(0).first_token_s.has_value());
    EXPECT_FALSE(lanes.of(0).median_s.has_value());
    EXPECT_FALSE(lanes.of(5).first_token_s.has_value());
}

TEST(LatencyView, FollowsGrowingLanesAndTheSequenceOnShow) {
    Lanes lanes;
    LatencyView view;
    view.update(lanes.show().lanes(), 0);
    EXPECT_TRUE(view.lanes()[0].positions.empty());
    lanes.step(Phase::prefill, 100, {{0, 0, 2, true}});
    lanes.step(Phase::prefill, 50, {{1, 0, 2, true}});
    view.update(lanes.show().lanes(), 0);
    EXPECT_NEAR(view.lanes()[0].first_token_s.value(), 100e-9, 1e-15);
    view.update(lanes.show().lanes(), 1);
    EXPECT_NEAR(view.lanes()[0].first_token_s.value(), 50e-9, 1e-15);
}

TEST(Latencies, ALaneWithoutTheSequenceShowsItsFirst) {
    Lanes lanes;
    lanes.step(Phase::prefill, 1000, {{3, 0, 4, true}});
    lanes.step(Phase::decode, 30, {{3, 4, 1, true}});
    LatencyView view;
    view.update(lanes.show().lanes(), 0);
    EXPECT_NEAR(view.lanes()[0].first_token_s.value(), 1000e-9, 1e-15);
    EXPECT_NEAR(view.lanes()[0].median_s.value(), 30e-9, 1e-15);
}

}  // namespace
}  // namespace kvtape
