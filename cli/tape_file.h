// The tape of a run, if one was asked for. Whatever ends the run early is written at its end, so that
// the tape of a run that was refused says why it has no steps.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "tracer/step.h"
#include "tracer/tape_writer.h"

namespace kvtape {

struct TapeOptions {
    std::optional<std::string> path;
    bool overwrite = false;
};

// Adds --tape and --overwrite.
void add_tape_options(CLI::App& verb, TapeOptions& options);

class TapeFile {
  public:
    TapeFile(const TapeOptions& options, const TapeHeader& header);

    void write(const Step& step) {
        if (writer_) writer_->write(step);
    }

    // Runs `body`, which writes steps, and then closes the tape; if `body` throws, with its reason.
    // The exception goes on to the caller.
    void record(const std::function<void()>& body);

    std::int64_t bytes_written() const { return writer_ ? writer_->bytes_written() : 0; }
    std::int64_t steps_written() const { return writer_ ? writer_->steps_written() : 0; }

  private:
    std::optional<TapeWriter> writer_;
};

}  // namespace kvtape
