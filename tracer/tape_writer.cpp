#include "tracer/tape_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "tracer/step_check.h"

namespace kvtape {
namespace {

// What to do about a file that cannot be created.
const char* remedy(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "create its folder first";
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a folder that you may write to";
        case EISDIR:
            return "give the name of a file";
        case ENOSPC:
        case EDQUOT:
            return "free some space, or write the tape elsewhere";
        default:
            return "choose another name";
    }
}

// Two programs that write the same tape would leave no tape. Whoever comes second is refused;
// readers are not held up. Some file systems have no locks: then nobody is.
void lock(int file, const std::string& path) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(file);
    fail("tape '", path, "' is being written by another program; choose another name");
}

int create(const std::string& path, Overwrite overwrite) {
    constexpr int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
    int file = ::open(path.c_str(), flags | O_EXCL, 0666);
    if (file >= 0) lock(file, path);
    if (file < 0 && errno == EEXIST) {
        struct stat found {};
        const bool device = ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
        if (overwrite == Overwrite::no && !device) {
            fail("tape '", path,
                 "' exists already and was left as it is; choose another name or give --overwrite");
        }
        file = ::open(path.c_str(), flags);
        if (file >= 0 && !device) lock(file, path);
        if (file >= 0 && !device && ::ftruncate(file, 0) != 0) {
            const int error = errno;
            ::close(file);
            errno = error;
            file = -1;
        }
    }
    if (file < 0) {
        fail("tape '", path, "' cannot be created: ", std::strerror(errno), "; ", remedy(errno));
    }
    return file;
}

}  // namespace

TapeWriter::TapeWriter(const std::string& path, const TapeHeader& header, Overwrite overwrite)
    : path_(path), header_(header), encoding_(encoding_of(path)), next_index_(header.lanes.size()) {
    validate(header);
    const Json record = to_json(header);
    encode_record(record, encoding_);  // whatever can fail here must, before a file is touched
    file_ = create(path, overwrite);
    try {
        write_record(record, "the header");
    } catch (...) {
        ::close(file_);
        throw;
    }
}

TapeWriter::~TapeWriter() {
    if (file_ >= 0) ::close(file_);
}

void TapeWriter::write(const Step& step) {
    KVTAPE_CHECK(file_, >=, 0);
    validate(step, header_);
    std::int64_t& next_index = next_index_[static_cast<std::size_t>(step.lane)];
    KVTAPE_CHECK(step.index, ==, next_index);
    write_record(to_json(step, header_.shape),
                 "step " + std::to_string(step.index) + " of lane '" +
                     header_.lanes[static_cast<std::size_t>(step.lane)].name + "'");
    ++next_index;
    ++steps_written_;
}

void TapeWriter::close(std::string_view reason) {
    if (file_ < 0) return;
    if (!failed_) write_record(end_record(steps_written_, reason), "the last record");
    const int file = file_;
    file_ = -1;
    if (::close(file) != 0) {
        fail("tape '", path_, "' could not be closed: ", std::strerror(errno),
             "; its last steps may be missing");
    }
}

void TapeWriter::write_record(const Json& record, const std::string& what) {
    if (failed_) fail("tape '", path_, "': an earlier write failed, so it takes no more steps");
    const std::string bytes = encode_record(record, encoding_);
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::write(file_, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            const int error = count < 0 ? errno : ENOSPC;
            failed_ = true;
            fail("tape '", path_, "': ", what, " could not be written: ", std::strerror(error),
                 "; the ", steps_written_, " steps before it are kept; ", remedy(error),
                 " and run again");
        }
        done += static_cast<std::size_t>(count);
    }
    bytes_written_ += static_cast<std::int64_t>(bytes.size());
}

}  // namespace kvtape
