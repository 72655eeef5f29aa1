// Writes a tape, step by step. Every step is handed to the operating system before `write` returns,
// so a program that is killed loses at most the step it was writing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tracer/step.h"
#include "tracer/tape_encoding.h"

namespace kvtape {

enum class Overwrite : std::uint8_t { no, yes };

class TapeWriter {
  public:
    // Creates the file and writes the header. The name chooses the encoding: .jsonl or .tape.
    // Throws Error if the file exists (it is left as it is) and `overwrite` is not yes, or if it
    // cannot be created or written.
    TapeWriter(const std::string& path, const TapeHeader& header,
               Overwrite overwrite = Overwrite::no);

    // Leaves a tape that was not closed without its last record: readers will call it truncated,
    // which it is.
    ~TapeWriter();
    TapeWriter(const TapeWriter&) = delete;
    TapeWriter& operator=(const TapeWriter&) = delete;

    // Throws Error if the file cannot take the step (disk full); the steps before it stay readable.
    // After an error the tape takes no more steps.
    void write(const Step& step);

    // Writes the end record and closes the file; throws Error if that fails. `reason` tells the
    // reader why the run stopped early ("prompt longer than max_model_len"), or is empty.
    void close(std::string_view reason = {});

    std::int64_t steps_written() const { return steps_written_; }
    std::int64_t bytes_written() const { return bytes_written_; }

  private:
    void write_record(const Json& record, const std::string& what);

    std::string path_;
    TapeHeader header_;
    TapeEncoding encoding_;
    int file_ = -1;  // descriptor, -1 when closed
    bool failed_ = false;
    std::int64_t steps_written_ = 0;
    std::int64_t bytes_written_ = 0;
    std::vector<std::int64_t> next_index_;  // (lanes)
};

}  // namespace kvtape
