// A run that is watched: what it delivers, where it pauses, and how it ends.
#include "viewer/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "support/tape_files.h"
#include "support/tiny_model_files.h"
#include "tracer/verify.h"

namespace kvtape {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using State = LiveStatus::State;

// Long enough for a pass of the tiny model many times over, so that what has not come by then does
// not come.
constexpr auto a_while = 60ms;

class LiveRunTest : public testing::Test {
  protected:
    LiveRunTest() { write_model(folder_.path() / "model", with_text()); }

    // Three lanes; a prompt of 5 tokens and 4 new ones, so each lane has 4 steps of 2 layers.
    LiveOptions options() const {
        LiveOptions options;
        options.model = folder_ / "model";
        options.prompt = "hello";
        options.max_tokens = 4;
        options.block_size = 4;
        options.tape = folder_ / "live.tape";
        options.threads = 1;
        return options;
    }
    LiveOptions one_lane() const {
        LiveOptions one = options();
        one.caches = {"paged"};
        return one;
    }

    // Waits until the run is in that state; its steps are added to `steps_`.
    void wait_for(LiveRun& run, State state) {
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (true) {
            const LiveStatus status = run.status();
            take(run);
            if (status.state == state) return;
            if (status.state == State::ended || std::chrono::steady_clock::now() > give_up) {
                FAIL() << "state " << static_cast<int>(status.state) << ": " << status.end;
            }
            std::this_thread::sleep_for(1ms);
        }
    }
    void take(LiveRun& run) {
        for (Step& step : run.take_steps()) steps_.push_back(std::move(step));
    }
    std::size_t steps_after_a_while(LiveRun& run) {
        std::this_thread::sleep_for(a_while);
        take(run);
        return steps_.size();
    }

    void expect_tape_of_the_steps(const std::string& path, const std::string& reason) {
        const test::ReadOutcome tape = test::read_tape(path);
        EXPECT_TRUE(tape.ended);
        EXPECT_EQ(tape.end_reason, reason);
        ASSERT_EQ(tape.steps.size(), steps_.size());
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            EXPECT_TRUE(test::same(tape.steps[i], steps_[i])) << "step " << i;
        }
    }

    // The message of a run that must fail.
    std::string failure(const LiveOptions& options) {
        LiveRun run(options, Pace::run_on);
        wait_for(run, State::ended);
        const LiveStatus status = run.status();
        EXPECT_TRUE(status.failed);
        EXPECT_EQ(status.end.find('\n'), std::string::npos);
        return status.end;
    }

    TestFolder folder_;
    std::vector<Step> steps_;
};

TEST_F(LiveRunTest, DeliversTheStepsThatAreOnItsTape) {
    {
        LiveRun run(options(), Pace::run_on);
        wait_for(run, State::ended);
        const LiveStatus status = run.status();
        EXPECT_FALSE(status.failed) << status.end;
        EXPECT_EQ(status.end, "max_tokens 4");
        EXPECT_EQ(status.steps, 12);
        EXPECT_EQ(status.tape, folder_ / "live.tape");
        EXPECT_EQ(status.text.size(), 4u);  // a token is a byte
        ASSERT_TRUE(run.header().has_value());
        ASSERT_EQ(run.header()->lanes.size(), 3u);
        EXPECT_EQ(run.header()->lanes[2].block_size, 4);
    }
    ASSERT_EQ(steps_.size(), 12u);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        EXPECT_EQ(steps_[i].lane, static_cast<std::int32_t>(i % 3));  // in lockstep
    }
    expect_tape_of_the_steps(folder_ / "live.tape", "");
    // Nothing is missing on it, and every count is as it must be.
    TapeReader reader(folder_ / "live.tape");
    EXPECT_TRUE(verify(reader).ok());
    TapeReader again(folder_ / "live.tape");
    Step first;
    ASSERT_EQ(again.next(first), TapeReader::Next::step);
    EXPECT_FALSE(first.rows.empty());  // the numbers, for the grid and the inspector
}

TEST_F(LiveRunTest, PausesAfterEachStepOfAllLanes) {
    LiveRun run(options(), Pace::step);
    for (std::size_t step = 1; step < 4; ++step) {
        wait_for(run, State::paused);
        EXPECT_EQ(steps_.size(), 3 * step);
        EXPECT_EQ(steps_after_a_while(run), 3 * step);
        run.go_on();
    }
    wait_for(run, State::ended);
    EXPECT_EQ(steps_.size(), 12u);
}

TEST_F(LiveRunTest, PausesAfterEachTokenButNotAfterChunksOfThePrompt) {
    LiveOptions chunked = one_lane();
    chunked.prefill_chunk = 2;  // 2 + 2 + 1 tokens: the first token comes with the third step
    LiveRun run(chunked, Pace::token);
    for (std::size_t steps = 3; steps < 6; ++steps) {
        wait_for(run, State::paused);
        EXPECT_EQ(steps_after_a_while(run), steps);
        EXPECT_EQ(run.status().text.size(), steps - 2);
        run.go_on();
    }
    wait_for(run, State::ended);
    EXPECT_EQ(steps_.size(), 6u);
}

TEST_F(LiveRunTest, PausesAfterEachLayer) {
    LiveOptions one = one_lane();
    for (const int threads : {1, 3}) {
        one.threads = threads;
        steps_.clear();
        std::chrono::nanoseconds shortest = 1h;
        LiveRun run(one, Pace::layer);
        for (std::size_t step = 0; step < 4; ++step) {
            wait_for(run, State::paused);  // before the second layer
            EXPECT_TRUE(run.status().progress.in_pass);
            EXPECT_EQ(run.status().progress.layers_done, 1);
            EXPECT_EQ(run.status().progress.position_begin, step == 0 ? 0 : 4 + step);
            EXPECT_EQ(run.status().progress.position_end, 5 + step);
            EXPECT_EQ(steps_after_a_while(run), step);
            run.go_on();
            wait_for(run, State::paused);  // after the pass
            EXPECT_FALSE(run.status().progress.in_pass);
            EXPECT_EQ(steps_after_a_while(run), step + 1);
            EXPECT_GT(steps_.back().wall_ns, 0);
            shortest = std::min(shortest, std::chrono::nanoseconds(steps_.back().wall_ns));
            run.go_on();
        }
        wait_for(run, State::ended);
        EXPECT_LT(shortest, a_while);  // the pauses are no part of what a step costs
        EXPECT_EQ(steps_.size(), 4u);
        expect_tape_of_the_steps(run.status().tape, "");
    }
}

TEST_F(LiveRunTest, PausesWhenAskedAndGoesOnAtAnotherPace) {
    LiveOptions endless = one_lane();
    endless.max_tokens.reset();
    LiveRun run(endless, Pace::step);
    wait_for(run, State::paused);
    run.set_pace(Pace::run_on);
    EXPECT_EQ(steps_after_a_while(run), 1u);  // a new pace does not end a pause
    run.pause();
    run.go_on();
    wait_for(run, State::ended);
    EXPECT_EQ(steps_.size(), 64u - 5u);

    steps_.clear();
    LiveRun again(endless, Pace::run_on);
    again.pause();
    wait_for(again, State::paused);
    const std::size_t done = steps_.size();
    EXPECT_LT(done, 2u);
    EXPECT_EQ(steps_after_a_while(again), done);
    again.go_on();
    wait_for(again, State::ended);
}

TEST_F(LiveRunTest, StopsWhilePausedInALayer) {
    for (const int threads : {1, 3}) {
        LiveOptions three = options();
        three.threads = threads;
        steps_.clear();
        LiveRun run(three, Pace::layer);
        for (int pauses = 0; pauses < 8; ++pauses) {
            wait_for(run, State::paused);
            run.go_on();
        }
        wait_for(run, State::paused);
        ASSERT_TRUE(run.status().progress.in_pass);
        const auto start = std::chrono::steady_clock::now();
        run.stop();
        wait_for(run, State::ended);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
        EXPECT_FALSE(run.status().failed);
        EXPECT_EQ(run.status().end, "stopped by the user");
        EXPECT_EQ(steps_.size(), 4u);  // of two pauses each
        expect_tape_of_the_steps(run.status().tape, "stopped by the user");
    }
}

TEST_F(LiveRunTest, TheDestructorStopsARunAndKeepsItsTape) {
    {
        LiveRun run(options(), Pace::layer);
        wait_for(run, State::paused);
        run.go_on();
        wait_for(run, State::paused);
    }
    expect_tape_of_the_steps(folder_ / "live.tape", "stopped by the user");
    // In the middle of computing, and while the model is loaded: then there is no tape yet.
    LiveOptions endless = options();
    endless.max_tokens.reset();
    endless.tape = folder_ / "second.tape";
    {
        LiveRun run(endless, Pace::run_on);
        while (run.take_steps().empty() && run.status().state != State::ended) {
            std::this_thread::yield();
        }
    }
    EXPECT_TRUE(test::read_tape(folder_ / "second.tape").ended);
    endless.tape = folder_ / "third.tape";
    { LiveRun run(endless, Pace::layer); }
}

TEST_F(LiveRunTest, SaysWhatIsWrongInTheWordsOfTheCommandLine) {
    LiveOptions wrong = options();
    wrong.model = folder_ / "nowhere";
    EXPECT_THAT(failure(wrong), HasSubstr("there is no model folder '" + wrong.model + "'"));

    wrong = options();
    wrong.model = folder_.path().string();
    EXPECT_THAT(failure(wrong), HasSubstr("config.json"));

    wrong = options();
    wrong.prompt = "";
    EXPECT_EQ(failure(wrong), "the prompt has no tokens; give at least one");

    wrong = options();
    wrong.prompt = "caf\xe9";
    EXPECT_THAT(failure(wrong), HasSubstr("UTF-8"));

    wrong = options();
    wrong.prompt = std::string(64, 'x');
    EXPECT_THAT(failure(wrong), HasSubstr("the prompt has 64 tokens, the limit is 64"));

    wrong = options();
    wrong.max_tokens = 60;
    EXPECT_THAT(failure(wrong), HasSubstr("the largest max_tokens is 59"));

    wrong = options();
    wrong.block_size = 0;
    EXPECT_THAT(failure(wrong), HasSubstr("block size is 0; use 1 to 1048576"));

    wrong = options();
    wrong.sampling.temperature = -1;
    EXPECT_THAT(failure(wrong), HasSubstr("temperature"));

    // None of them left a file.
    EXPECT_FALSE(std::filesystem::exists(options().tape));

    wrong = options();
    wrong.tape = folder_ / "no_folder/live.tape";
    EXPECT_THAT(failure(wrong), HasSubstr("create its folder first"));

    wrong = options();
    wrong.tape = folder_ / "live.txt";
    EXPECT_THAT(failure(wrong), HasSubstr("must end in .tape"));
    EXPECT_TRUE(steps_.empty());
}

TEST_F(LiveRunTest, AModelWithoutATokenizerIsRefused) {
    write_model(folder_.path() / "no_text");
    LiveOptions wrong = options();
    wrong.model = folder_ / "no_text";
    EXPECT_THAT(failure(wrong), HasSubstr("no tokenizer.json"));
}

// A full disk ends the run; what came before is on show.
TEST_F(LiveRunTest, ATapeThatCannotBeWrittenEndsTheRun) {
    std::filesystem::create_symlink("/dev/full", folder_.path() / "full.tape");
    LiveOptions full = options();
    full.tape = folder_ / "full.tape";
    EXPECT_THAT(failure(full), HasSubstr("No space left on device"));
}

// Values that are not numbers are delivered and written like any others, so that they can be seen.
TEST_F(LiveRunTest, EndsWhereTheLogitsAreNotNumbers) {
    TinyModelFiles files = with_text();
    files.change = [](ModelWeights& weights) {
        for (float& v : weights.layers[0].v) v *= 1e6f;  // beyond float16
    };
    write_model(folder_.path() / "large", files);
    LiveOptions large = one_lane();
    large.model = folder_ / "large";
    large.dtype = KvDtype::f16;
    const std::string why = failure(large);
    EXPECT_THAT(why, HasSubstr("stored as infinity or NaN in the f16 cache"));
    EXPECT_EQ(steps_.size(), 1u);
    expect_tape_of_the_steps(folder_ / "live.tape", why);
}

TEST_F(LiveRunTest, TheTextLeavesOutTheTokenThatEndsIt) {
    std::string text;
    {
        LiveRun run(one_lane(), Pace::run_on);
        wait_for(run, State::ended);
        text = run.status().text;
    }
    // The same model, told that what it says first ends a text.
    TinyModelFiles files = with_text();
    files.eos = static_cast<int>(static_cast<unsigned char>(text[0]));
    write_model(folder_.path() / "terse", files);
    LiveOptions terse = one_lane();
    terse.model = folder_ / "terse";
    LiveRun run(terse, Pace::run_on);
    wait_for(run, State::ended);
    EXPECT_EQ(run.status().text, "");
    EXPECT_EQ(run.status().end, "the model ended the text");
    EXPECT_EQ(run.status().tape, folder_ / "live-2.tape");
}

TEST_F(LiveRunTest, NeverWritesOverAFile) {
    EXPECT_EQ(free_tape_name(folder_ / "a.b.tape"), folder_ / "a.b.tape");
    write_file(folder_ / "a.b.tape", "mine");
    EXPECT_EQ(free_tape_name(folder_ / "a.b.tape"), folder_ / "a.b-2.tape");
    write_file(folder_ / "a.b-2.tape", "mine");
    EXPECT_EQ(free_tape_name(folder_ / "a.b.tape"), folder_ / "a.b-3.tape");
    EXPECT_EQ(free_tape_name("live.jsonl"), "live.jsonl");
}

}  // namespace
}  // namespace kvtape
