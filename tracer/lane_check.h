// The checks of tracer/verify.h for one lane: what its cache holds, kept as counts.
//
// In a correct tape the rows of a block are written from its first one on, without gaps, and in all
// layers, KV heads and kinds alike. So what a block holds is one number. A step that leaves some of
// these rows out is reported once, for that; then it counts as if it had written them.
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
    void follow(const BlockChanges& changes);
    void check_positions(const Step& step);
    void check_place(const WriteRun& run);
    void count_rows(const SpanRecord& span);
    void check_reads(const Step& step);
    bool reads_prefix(std::span<const ReadRun> runs, const SpanRecord& span, std::int64_t kv_head,
                      std::int64_t& work_left) const;
    void check_present(const SpanRecord& span);
    void check_flops(const Step& step);
    void check_bytes(const Step& step);
    void expect(const char* what, std::int64_t found, std::int64_t expected);

    ModelShape shape_;
    Lane lane_;
    Report report_;
    LaneTotals totals_;
    BlockTables tables_;
    bool has_pool_events_ = false;
    std::map<std::int64_t, std::int64_t> holders_;  // of a block: how many
    std::map<std::int64_t, std::int64_t> rows_;     // of a block, in each layer, KV head and kind
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> set_aside_;  // (sequence, index)
};

}  // namespace kvtape
