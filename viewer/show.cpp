#include "viewer/show.h"

#include <algorithm>

#include "core/check.h"

namespace kvtape {

void Show::open(const std::string& path) {
    OpenTape tape;
    tape.path = path;
    tape.reader = std::make_unique<TapeReader>(path, TapeReader::Mode::follow);
    read(tape);
    tapes_.push_back(std::move(tape));
}

LaneHistory& Show::add_lane(const TapeHeader& header, std::int32_t lane) {
    return *lanes_.emplace_back(std::make_unique<LaneHistory>(header, lane));
}

void Show::clear() {
    replace({});
}

void Show::replace(Show other) {
    lanes_ = std::move(other.lanes_);
    tapes_ = std::move(other.tapes_);
    errors_ = std::move(other.errors_);
    ++times_cleared_;
}

bool Show::poll() {
    bool gained = false;
    for (OpenTape& tape : tapes_) {
        if (tape.reader) gained |= read(tape);
    }
    return gained;
}

bool Show::follows() const {
    return std::any_of(tapes_.begin(), tapes_.end(),
                       [](const OpenTape& tape) { return tape.reader != nullptr; });
}

void Show::stop_following() {
    for (OpenTape& tape : tapes_) tape.reader.reset();
}

// Reads all there is. Nothing more is expected after the writer's last record, or after damage.
bool Show::read(OpenTape& tape) {
    using Next = TapeReader::Next;
    const std::string name = "tape '" + tape.path + "'";
    bool gained = false;
    try {
        Step step;
        Next next = tape.reader->next(step);
        if (tape.lanes.empty() && tape.reader->has_header()) add_lanes(tape);
        for (; next == Next::step; next = tape.reader->next(step)) {
            lanes_[tape.lanes[static_cast<std::size_t>(step.lane)]]->add(std::move(step));
            gained = true;
        }
        if (next == Next::incomplete) {
            tape.remark = tape.reader->truncation().what();
            return gained;
        }
        const std::string& reason = tape.reader->end_reason();
        tape.remark = reason.empty() ? "" : name + " ends early: " + reason;
    } catch (const Error& error) {
        tape.remark = error.what();
        if (tape.remark.find(tape.path) == std::string::npos) {
            tape.remark = name + " cannot be read on: " + tape.remark;
        }
        errors_.push_back(tape.remark);
    }
    tape.reader.reset();
    return gained;
}

void Show::add_lanes(OpenTape& tape) {
    const TapeHeader& header = tape.reader->header();
    for (std::int32_t lane = 0; lane < std::ssize(header.lanes); ++lane) {
        tape.lanes.push_back(lanes_.size());
        add_lane(header, lane);
    }
}

std::int64_t Show::steps() const {
    std::int64_t most = 0;
    for (const auto& lane : lanes_) most = std::max(most, lane->steps());
    return most;
}

}  // namespace kvtape
