#include "tracer/verify.h"

#include "tracer/lane_check.h"

namespace kvtape {

std::int64_t VerifyReport::steps() const {
    std::int64_t steps = 0;
    for (const LaneTotals& lane : lanes) steps += lane.steps;
    return steps;
}

VerifyReport verify(TapeReader& reader) {
    VerifyReport report;
    VerifyProblem now{};  // where we are
    const auto note = [&](const std::string& problem) {
        if (report.problems_found++ < VerifyReport::max_listed) {
            report.problems.push_back({now.lane, now.step, problem});
        }
    };
    std::vector<LaneCheck> checks;
    for (std::size_t lane = 0; lane < reader.header().lanes.size(); ++lane) {
        checks.emplace_back(reader.header(), static_cast<std::int32_t>(lane), note);
    }

    Step step;
    TapeReader::Next next;
    while ((next = reader.next(step)) == TapeReader::Next::step) {
        now = {step.lane, step.index, {}};
        checks[static_cast<std::size_t>(step.lane)].check(step);
    }
    if (next == TapeReader::Next::incomplete) report.truncation = reader.truncation().what();
    report.end_reason = reader.end_reason();
    for (const LaneCheck& check : checks) report.lanes.push_back(check.totals());
    return report;
}

}  // namespace kvtape
