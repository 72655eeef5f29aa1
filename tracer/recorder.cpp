#include "tracer/recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fnv1a.h"

namespace kvtape {

void Recorder::Worker::write(const RowWrite& row, const std::byte* codes, std::int64_t bytes) {
    const auto index = static_cast<std::size_t>(row.kv_head * 2 + static_cast<int>(row.kind));
    if (index >= open_writes_.size()) open_writes_.resize(index + 1);
    WriteRun& run = open_writes_[index];
    const bool extends = run.rows() > 0 && run.sequence == row.sequence && run.layer == row.layer &&
                         run.position_end == row.position &&
                         run.slot_begin + run.rows() == row.slot;
    if (extends) {
        ++run.position_end;
    } else {
        if (run.rows() > 0) writes_.push_back(run);
        run = {row.sequence, row.layer,        row.kv_head, row.kind,
               row.position, row.position + 1, row.slot};
    }
    const auto size = static_cast<std::size_t>(bytes);
    if (keep_.digests) digests_.push_back({row, fnv1a(codes, size)});
    if (keep_.codes) codes_.push_back({row, {reinterpret_cast<const char*>(codes), size}});
}

void Recorder::Worker::read(const ReadRun& row) {
    const auto index = static_cast<std::size_t>(row.kv_head * 2 + static_cast<int>(row.kind));
    if (index >= open_reads_.size()) open_reads_.resize(index + 1);
    OpenRead& open = open_reads_[index];

    const ReadRun& last = open.row;
    const bool continues = open.has_row && last.sequence == row.sequence &&
                           last.layer == row.layer && last.head_begin == row.head_begin &&
                           last.head_end == row.head_end && last.query_begin == row.query_begin &&
                           last.key_end == row.key_begin;
    if (continues) {
        open.row.key_end = row.key_end;
        return;
    }
    finish_row(open);
    open.row = row;
    open.has_row = true;
}

void Recorder::Worker::finish_row(OpenRead& open) {
    if (!open.has_row) return;
    ReadRun row = open.row;
    row.causal = row.key_end == row.query_end;
    open.has_row = false;

    ReadRun& run = open.run;
    const bool extends = open.has_run && run.sequence == row.sequence && run.layer == row.layer &&
                         run.head_begin == row.head_begin && run.head_end == row.head_end &&
                         run.query_end == row.query_begin && run.key_begin == row.key_begin &&
                         run.causal == row.causal && (run.causal || run.key_end == row.key_end);
    if (extends) {
        run.query_end = row.query_end;
        run.key_end = row.key_end;
        return;
    }
    if (open.has_run) reads_.push_back(run);
    run = row;
    open.has_run = true;
}

void Recorder::Worker::finish(OpenRead& open) {
    finish_row(open);
    if (open.has_run) reads_.push_back(open.run);
    open.has_run = false;
}

void Recorder::Worker::finish_all() {
    for (OpenRead& open : open_reads_) finish(open);
    for (WriteRun& run : open_writes_) {
        if (run.rows() > 0) writes_.push_back(run);
        run = {};
    }
}

Recorder::Recorder(int workers, RowKeeping keep) : workers_(static_cast<std::size_t>(workers)) {
    for (Worker& worker : workers_) worker.keep_ = keep;
}

// The rows of the step that are new, or differ from what was last listed at their position.
// Neighbours are joined.
std::vector<StoredRows> Recorder::take_rows() {
    std::vector<Worker::Codes> stored;
    for (Worker& worker : workers_) {
        std::move(worker.codes_.begin(), worker.codes_.end(), std::back_inserter(stored));
        worker.codes_.clear();
    }
    std::sort(stored.begin(), stored.end(),
              [](const Worker::Codes& a, const Worker::Codes& b) { return a.row < b.row; });

    std::vector<StoredRows> rows;
    std::int64_t end = 0;  // of the positions in rows.back()
    for (const auto& [row, codes] : stored) {
        const std::uint64_t digest = fnv1a(codes.data(), codes.size());
        const auto [listed, is_new] = listed_.try_emplace(
            {row.sequence, row.layer, row.kv_head, row.kind, row.position}, digest);
        if (!is_new && std::exchange(listed->second, digest) == digest) continue;
        const bool extends = !rows.empty() && rows.back().sequence == row.sequence &&
                             rows.back().layer == row.layer && rows.back().kv_head == row.kv_head &&
                             rows.back().kind == row.kind && end == row.position;
        if (!extends) {
            rows.push_back(
                {row.sequence, row.layer, row.kv_head, row.kind, row.position, std::string()});
        }
        rows.back().codes += codes;
        end = row.position + 1;
    }
    return rows;
}

Recorder::StepAccesses Recorder::take_step() {
    StepAccesses step;
    for (Worker& worker : workers_) {
        worker.finish_all();
        step.writes.insert(step.writes.end(), worker.writes_.begin(), worker.writes_.end());
        step.reads.insert(step.reads.end(), worker.reads_.begin(), worker.reads_.end());
        step.digests.insert(step.digests.end(), worker.digests_.begin(), worker.digests_.end());
        step.flops += worker.flops_;
        worker.writes_.clear();
        worker.reads_.clear();
        worker.digests_.clear();
        worker.flops_ = {};
    }
    step.rows = take_rows();
    step.writes = canonical(std::move(step.writes));
    step.reads = canonical(std::move(step.reads));
    std::sort(step.digests.begin(), step.digests.end(),
              [](const RowDigest& a, const RowDigest& b) { return a.row < b.row; });
    return step;
}

}  // namespace kvtape
