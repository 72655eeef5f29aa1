// A run that is watched while it decodes: the model on a thread of its own, its steps handed over
// as they are finished, and written to a tape at the same time. It knows no windows.
//
//   LiveRun run(options, Pace::step);      // returns at once; loading happens on the thread, too
//   ...
//   for (Step& step : run.take_steps()) ...
//   if (run.status().state == LiveStatus::State::paused) run.go_on();
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/kv_dtype.h"
#include "reference_cpu/sampler.h"
#include "tracer/step.h"
#include "viewer/pace_gate.h"

namespace kvtape {

struct LiveOptions {
    std::string model;  // folder
    std::string prompt;
    std::vector<std::string> caches = {"none", "contiguous", "paged"};  // the lanes, in lockstep
    KvDtype dtype = KvDtype::f32;
    std::int64_t block_size = 16;            // of paged caches
    std::int64_t prefill_chunk = 0;          // prompt tokens per pass; 0: the whole prompt in one
    std::optional<std::int64_t> max_tokens;  // absent: as many as fit
    Sampling sampling;
    std::string tape = "live.tape";
    // One core is left to the window: threads that wait for each other at every layer lose much
    // when one of them must share. More than 8 do not help the models that kvtape is made for.
    int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 1, 8);
};

struct LiveStatus {
    enum class State : std::uint8_t { loading, running, paused, ended };
    State state = State::loading;
    bool failed = false;     // ended with an error
    std::string end;         // how it ended: the error, or why there are no more tokens
    std::string tape;        // the file that is written; "" before there is one
    std::int64_t steps = 0;  // on the tape, of all lanes together
    std::string text;        // generated so far; it may end within a character
    PaceGate::Progress progress;
};

// A file that is not there yet: `wanted`, or else live-2.tape, live-3.tape, ... after live.tape.
std::string free_tape_name(const std::string& wanted);

class LiveRun {
  public:
    LiveRun(LiveOptions options, Pace pace);
    // Stops the run, if it still goes, and waits for the layer in progress. The tape is closed.
    ~LiveRun();
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    // None of these waits for the model.
    void set_pace(Pace pace) { gate_.set_pace(pace); }
    void pause() { gate_.pause(); }
    void go_on() { gate_.go_on(); }
    void stop() { gate_.stop(); }

    LiveStatus status() const;
    // Known before the first step can be taken.
    std::optional<TapeHeader> header() const;
    // The steps that were finished since the last call, in the order of the tape.
    std::vector<Step> take_steps();

  private:
    void run();
    void decode();
    void deliver(const Step& step, const std::vector<std::int32_t>& stop_ids);
    void end(bool failed, const std::string& how);

    const LiveOptions options_;
    PaceGate gate_;

    mutable std::mutex mutex_;  // of all below
    LiveStatus status_;
    std::optional<TapeHeader> header_;
    std::vector<Step> finished_;  // and not yet taken

    std::thread thread_;  // last: it uses all the others
};

}  // namespace kvtape
