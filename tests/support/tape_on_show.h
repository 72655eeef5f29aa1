// Synthetic tapes as files and on show.
#pragma once

#include <string>

#include "bench/synthetic_tape.h"
#include "tracer/tape_writer.h"
#include "viewer/show.h"

namespace kvtape {

inline void write_tape(const SyntheticTape& tape, const std::string& path) {
    TapeWriter writer(path, tape.header(), Overwrite::yes);
    for (std::int64_t step = 0; step < tape.steps(); ++step) {
        for (std::int32_t lane = 0; lane < std::ssize(tape.caches); ++lane) {
            writer.write(tape.step(lane, step));
        }
    }
    writer.close();
}

inline void put_on_show(const SyntheticTape& tape, Show& show) {
    const TapeHeader header = tape.header();
    for (std::int32_t lane = 0; lane < std::ssize(tape.caches); ++lane) {
        LaneHistory& history = show.add_lane(header, lane);
        for (std::int64_t step = 0; step < tape.steps(); ++step) history.add(tape.step(lane, step));
    }
}

}  // namespace kvtape
