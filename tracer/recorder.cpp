#include "tracer/recorder.h"

#include <algorithm>
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
    if (keep_digests_) {
        digests_.push_back({row, fnv1a(codes, static_cast<std::size_t>(bytes))});
    }
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

Recorder::Recorder(int workers, bool keep_digests) : workers_(static_cast<std::size_t>(workers)) {
    for (Worker& worker : workers_) worker.keep_digests_ = keep_digests;
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
    step.writes = canonical(std::move(step.writes));
    step.reads = canonical(std::move(step.reads));
    std::sort(step.digests.begin(), step.digests.end(),
              [](const RowDigest& a, const RowDigest& b) { return a.row < b.row; });
    return step;
}

}  // namespace kvtape
