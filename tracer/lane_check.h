// The checks of tracer/verify.h for one lane: what its cache holds, kept as counts.
//
// In a correct tape the rows of a block are written from its first one on, without gaps. So what a
// block holds is one number per layer, KV head and kind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tracer/block_tables.h"
#include "tracer/step.h"
#include "tracer/verify.h"

namespace kvtape {

class LaneCheck {
  public:
    // Problems are handed to `report`.
    using Report = std::function<void(const std::string& problem)>;
    LaneCheck(const TapeHeader& header, std::int32_t lane, Report report);

    // Checks the next step of the lane; throws Error if the totals leave the 64-bit range.
    void check(const Step& step);

    const LaneTotals& totals() const { return totals_; }

  private:
    using Rows = std::map<std::int64_t, std::int64_t>;  // rows of a block, by track number

    void follow(const BlockChanges& changes);
    void check_positions(const Step& step);
    void check_place(const WriteRun& run);
    void count_rows(const WriteRun& run);
    void check_reads(const Step& step);
    bool reads_prefix(std::span<const ReadRun> runs, const SpanRecord& span,
                      std::int64_t kv_head) const;
    void check_present(const SpanRecord& span);
    void check_flops(const Step& step);
    void check_bytes(const Step& step);
    void expect(const char* what, std::int64_t found, std::int64_t expected);
    std::int64_t track_number(const WriteRun& run) const;

    ModelShape shape_;
    Lane lane_;
    Report report_;
    LaneTotals totals_;
    BlockTables tables_;
    bool has_pool_events_ = false;
    std::map<std::int64_t, std::int64_t> holders_;                     // of a block: how many
    std::map<std::int64_t, Rows> rows_;                                // of a block
    std::map<std::pair<std::int32_t, std::int64_t>, Rows> set_aside_;  // by (sequence, index)
};

}  // namespace kvtape
