#include "tracer/tape_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "tracer/tape_fields.h"

namespace kvtape {
namespace {

// The start of a tape, in either encoding; `?` may be any byte. In JSON, spaces are skipped.
constexpr std::string_view json_start = R"({"tape":"kvtape")";
constexpr std::string_view cbor_start = "\xd8\x18\x5a?????\x64tape\x66kvtape";
constexpr std::size_t start_bytes = 64;  // enough to see it

// Whether the file may be a tape, as far as `bytes`, its first ones, tell.
bool starts_like_a_tape(std::string_view bytes, TapeEncoding encoding) {
    std::string_view expected = encoding == TapeEncoding::json_lines ? json_start : cbor_start;
    for (const char c : bytes.substr(0, start_bytes)) {
        if (expected.empty()) return true;
        const bool space = c == ' ' || c == '\t';
        if (encoding == TapeEncoding::json_lines && space) continue;
        if (c != expected[0] && expected[0] != '?') return false;
        expected.remove_prefix(1);
    }
    return true;
}

}  // namespace

TapeReader::TapeReader(const std::string& path, Mode mode) : path_(path), mode_(mode) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) {
        fail("tape '", path, "' cannot be opened: ", std::strerror(errno), "; check the name");
    }
    try {
        read_header();
        if (!header_ && mode == Mode::whole) throw truncation();
    } catch (...) {
        ::close(file_);
        throw;
    }
}

TapeReader::~TapeReader() {
    ::close(file_);
}

// Appends what the file has next to the buffer; false at the end of the file.
bool TapeReader::fetch_more() {
    if (buffer_begin_ > 0 && buffer_begin_ >= buffer_.size() / 2) {
        buffer_.erase(0, buffer_begin_);
        buffer_begin_ = 0;
    }
    const std::size_t old_size = buffer_.size();
    constexpr std::size_t least = std::size_t{64} << 10, most = std::size_t{4} << 20;
    buffer_.resize(old_size + std::clamp(old_size, least, most));
    ssize_t count = 0;
    do {
        count = ::read(file_, buffer_.data() + old_size, buffer_.size() - old_size);
    } while (count < 0 && errno == EINTR);
    const int error = errno;
    buffer_.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) {
        fail("tape '", path_, "' cannot be read: ", std::strerror(error), "; check the file");
    }
    struct stat now {};
    const bool shrunk = count == 0 && ::fstat(file_, &now) == 0 && S_ISREG(now.st_mode) &&
                        now.st_size < record_byte_ + unread_bytes();
    if (shrunk) fail("tape '", path_, "' was written anew while it was read; open it again");
    return count > 0;
}

// Finds the record that comes next, without decoding or accepting it yet; false if the file ends
// before it does. `record_` points into the buffer, until more is fetched.
bool TapeReader::fetch_record() {
    for (;;) {
        const std::string_view bytes = std::string_view(buffer_).substr(buffer_begin_);
        record_ = find_record(bytes, encoding_, searched_);
        if (record_.state == Framed::State::damaged) corrupt("no record starts there");
        if (record_.state == Framed::State::whole) return true;
        searched_ = bytes.size();
        if (!fetch_more()) return false;
    }
}

void TapeReader::accept_record() {
    buffer_begin_ += record_.size;
    record_byte_ += static_cast<std::int64_t>(record_.size);
    searched_ = 0;
    ++records_read_;
}

void TapeReader::read_header() {
    while (unread_bytes() < static_cast<std::int64_t>(start_bytes) && fetch_more()) {
    }
    if (unread_bytes() == 0) return;
    const std::string_view bytes = std::string_view(buffer_).substr(buffer_begin_);
    encoding_ = bytes[0] == cbor_start[0] ? TapeEncoding::cbor_sequence : TapeEncoding::json_lines;
    if (!starts_like_a_tape(bytes, encoding_)) {
        throw TapeError(TapeFault::not_a_tape, 0, 0,
                        "'" + path_ + "' is not a tape: it does not start with a tape's header; " +
                            "give a file that kvtape wrote with --tape");
    }
    if (!fetch_record()) return;
    std::int64_t version = 0;
    try {
        const Json record = decode_record(record_.payload, encoding_);
        version = fields::integer(fields::member(record, "version"), "version");
        if (version < 1) fail("\"version\" is ", version, "; the first version is 1");
        if (version <= tape_version) header_ = header_from_json(record);
    } catch (const Error& error) {
        corrupt(error.what());
    }
    if (version > tape_version) {
        throw TapeError(TapeFault::newer_version, 0, 0,
                        "tape '" + path_ + "' has version " + std::to_string(version) +
                            "; this kvtape reads version " + std::to_string(tape_version) +
                            "; update kvtape, or record the tape again with this one");
    }
    next_index_.assign(header_->lanes.size(), 0);
    accept_record();
}

TapeReader::Next TapeReader::next(Step& step) {
    if (broken_) throw TapeError(*broken_);
    if (ended_) return Next::end;
    if (!header_) read_header();
    if (!header_ || !fetch_record()) return Next::incomplete;
    try {
        const Json record = decode_record(record_.payload, encoding_);
        if (const Json* end = fields::optional(record, "end")) {
            read_end(record, *end);
        } else {
            read_step(record, step);
        }
    } catch (const Error& error) {
        corrupt(error.what());
    }
    accept_record();
    if (!ended_) return Next::step;
    if (mode_ == Mode::whole && (unread_bytes() > 0 || fetch_more())) {
        corrupt("it follows the end of the tape");
    }
    return Next::end;
}

void TapeReader::read_step(const Json& record, Step& step) {
    Step decoded = step_from_json(record, *header_);
    std::int64_t& index = next_index_[static_cast<std::size_t>(decoded.lane)];
    if (decoded.index != index) {
        fail("it is step ", decoded.index, " of lane ", decoded.lane, "; step ", index,
             " comes next");
    }
    ++index;
    ++steps_read_;
    step = std::move(decoded);
}

void TapeReader::read_end(const Json& record, const Json& end) {
    const std::string how = fields::text(end, "end");
    const std::int64_t steps = fields::integer(fields::member(record, "steps"), "steps");
    if (steps != steps_read_) {
        fail("it ends a tape of ", steps, " steps, but ", steps_read_, " precede it");
    }
    if (const Json* reason = fields::optional(record, "reason")) {
        end_reason_ = fields::text(*reason, "reason");
    }
    ended_ = true;
}

TapeError TapeReader::truncation() const {
    const std::int64_t cut = record_byte_ + unread_bytes();
    std::string message = "tape '" + path_ + "' ";
    if (cut == 0) {
        message += "is empty: whatever should have written it stopped before it began";
    } else if (unread_bytes() == 0) {
        message += "ends at byte " + std::to_string(cut) +
                   " without an end record: its writer was stopped or has not finished";
    } else {
        message += "is cut at byte " + std::to_string(cut) + ", within record " +
                   std::to_string(records_read_);
    }
    message += "; " + std::to_string(steps_read_) +
               (steps_read_ == 1 ? " complete step" : " complete steps") +
               " can be read; record the tape again for the rest";
    return TapeError(TapeFault::truncated, cut, steps_read_, message);
}

void TapeReader::corrupt(const std::string& what) {
    broken_.emplace(TapeFault::corrupt, record_byte_, steps_read_,
                    "tape '" + path_ + "' is corrupt at record " + std::to_string(records_read_) +
                        " (byte " + std::to_string(record_byte_) + "): " + what + "; the " +
                        std::to_string(steps_read_) +
                        " steps before it can be read; record the tape again for the rest");
    throw TapeError(*broken_);
}

}  // namespace kvtape
