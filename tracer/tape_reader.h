// Reads a tape, step by step: one record is in memory at a time, whatever the size of the file. The
// encoding is found by looking at the first byte, not at the name.
//
//   TapeReader reader(path);
//   Step step;
//   while (reader.next(step) == TapeReader::Next::step) { ... }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracer/step.h"
#include "tracer/tape_encoding.h"
#include "tracer/tape_error.h"

namespace kvtape {

class TapeReader {
  public:
    enum class Mode : std::uint8_t {
        whole,   // the file is finished: a tape without its end is truncated
        follow,  // the file may still grow: what is not there yet may come
    };

    // Opens the file and reads the header. Throws Error if there is no such file, TapeError if it
    // is not a tape. A file that ends within its header is truncated; when following, the reader
    // has no header yet and `next` looks again.
    explicit TapeReader(const std::string& path, Mode mode = Mode::whole);
    ~TapeReader();
    TapeReader(const TapeReader&) = delete;
    TapeReader& operator=(const TapeReader&) = delete;

    bool has_header() const { return header_.has_value(); }
    const TapeHeader& header() const { return header_.value(); }
    TapeEncoding encoding() const { return encoding_; }

    enum class Next : std::uint8_t {
        step,        // `step` holds the next one
        end,         // there are no more: the writer closed the tape
        incomplete,  // the file ends without the writer's last record. whole: the tape is cut, see
                     // `truncation`. follow: ask again later.
    };

    // Throws TapeError (corrupt) at a damaged record, and again at every later call. Throws Error
    // if the file cannot be read, or was written anew since.
    Next next(Step& step);

    // What to tell the user after Next::incomplete: at which byte, how many steps precede it.
    TapeError truncation() const;

    // After Next::end: why the run stopped early, or empty.
    const std::string& end_reason() const { return end_reason_; }

    std::int64_t steps_read() const { return steps_read_; }
    std::int64_t bytes_read() const { return record_byte_; }  // whole records, header included

  private:
    bool fetch_more();
    bool fetch_record();
    void accept_record();
    void read_header();
    void read_step(const Json& record, Step& step);
    void read_end(const Json& record, const Json& end);
    [[noreturn]] void corrupt(const std::string& what);
    std::int64_t unread_bytes() const {
        return static_cast<std::int64_t>(buffer_.size() - buffer_begin_);
    }

    std::string path_;
    Mode mode_;
    int file_ = -1;  // descriptor
    TapeEncoding encoding_ = TapeEncoding::cbor_sequence;
    std::optional<TapeHeader> header_;

    std::string buffer_;            // what was read from the file and is still of use
    std::size_t buffer_begin_ = 0;  // in it, the start of the next record
    std::size_t searched_ = 0;      // bytes of that record known to hold no line end
    Framed record_{};               // the one just fetched; see fetch_record
    std::int64_t record_byte_ = 0;  // offset in the file of the next record
    std::int64_t records_read_ = 0;
    std::int64_t steps_read_ = 0;
    std::vector<std::int64_t> next_index_;  // (lanes)

    bool ended_ = false;
    std::string end_reason_;
    std::optional<TapeError> broken_;
};

}  // namespace kvtape
