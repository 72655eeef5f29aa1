// The tape of a run, if one was asked for. Whatever ends the run early is written at its end, so
// that the tape of a run that was refused says why it has no steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/app.h"
#include "tracer/step.h"

namespace kvtape {

class TapeWriter;

struct TapeOptions {
    std::optional<std::string> path;
    bool overwrite = false;
    bool values = false;  // the numbers of the rows, too
};

// Adds --tape, --tape-values and --overwrite.
void add_tape_options(CLI::App& verb, TapeOptions& options);

// Whether there is a file that the tape would take the place of. Then the request is admitted
// first: an older tape is not lost to a run that is refused.
bool replaces_a_file(const TapeOptions& options);

class TapeFile {
  public:
    TapeFile(const TapeOptions& options, const TapeHeader& header);
    ~TapeFile();

    void write(const Step& step);

    // Runs `body`, which writes steps, and then closes the tape; if `body` throws, with its reason.
    // The exception goes on to the caller.
    void record(const std::function<void()>& body);

    std::int64_t bytes_written() const;
    std::int64_t steps_written() const;

  private:
    std::unique_ptr<TapeWriter> writer_;  // null: nobody asked for a tape
};

}  // namespace kvtape
