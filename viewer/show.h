// All that is on show: the lanes of one or several tapes, on one axis of steps. A tape that is
// still being written is followed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracer/tape_reader.h"
#include "viewer/lane_history.h"

namespace kvtape {

// A tape that was opened, and what is to be said about it.
struct OpenTape {
    std::string path;
    std::unique_ptr<TapeReader> reader;  // null once there is nothing more to read
    std::vector<std::size_t> lanes;      // into Show::lanes(), by lane of the tape
    std::string remark;                  // "", or a line: it is cut or damaged, or ended early
};

class Show {
  public:
    // Adds the lanes of a tape. Throws Error if it cannot be opened or is not a tape; a tape that
    // is cut or damaged later on is shown up to there, and has a remark.
    void open(const std::string& path);
    // All of `other` takes the place of what is on show.
    void replace(Show other);
    // Adds a lane that is fed by somebody else (live mode), and returns it.
    LaneHistory& add_lane(const TapeHeader& header, std::int32_t lane);
    void clear();
    // Lanes that were added before the last time are gone.
    std::int64_t times_cleared() const { return times_cleared_; }

    // Reads what the open tapes have gained. Returns whether there was anything. Never throws
    // Error: a tape that cannot be read on gets a remark.
    bool poll();
    // A tape may gain more.
    bool follows() const;
    // What the tapes gain from now on is not looked at.
    void stop_following();
    // The remarks on damage that came since they were taken last.
    std::vector<std::string> take_errors() { return std::exchange(errors_, {}); }

    const std::vector<std::unique_ptr<LaneHistory>>& lanes() const { return lanes_; }
    const std::vector<OpenTape>& tapes() const { return tapes_; }
    // Of the longest lane. Lanes that have fewer stand still at their last one.
    std::int64_t steps() const;

  private:
    bool read(OpenTape& tape);
    void add_lanes(OpenTape& tape);

    std::vector<std::unique_ptr<LaneHistory>> lanes_;
    std::vector<OpenTape> tapes_;
    std::vector<std::string> errors_;
    std::int64_t times_cleared_ = 0;
};

}  // namespace kvtape
