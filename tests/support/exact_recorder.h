// A tracer that keeps no runs: every row that a view stores or fetches is put on a list, one entry
// per row (and per query head, for reads). The runs of the Recorder must expand to exactly these
// lists. It shares no code with the Recorder, and stands beside it on the same pass.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "tracer/recorder.h"

namespace kvtape {

class ExactRecorder {
  public:
    static constexpr bool enabled = true;

    class Worker {
      public:
        explicit Worker(Recorder::Worker& beside) : beside_(beside) {}

        void write(const RowWrite& row, const std::byte* codes, std::int64_t bytes) {
            writes_.push_back(row);
            codes_.emplace_back(codes, codes + bytes);
            beside_.write(row, codes, bytes);
        }
        void read(const ReadRun& fetched) {
            for (std::int64_t key = fetched.key_begin; key < fetched.key_end; ++key) {
                ++fetches_;
                for (std::int32_t head = fetched.head_begin; head < fetched.head_end; ++head) {
                    reads_.push_back({fetched.sequence, fetched.layer, head, fetched.kind,
                                      fetched.query_begin, key});
                }
            }
            beside_.read(fetched);
        }
        void flops(Component component, std::int64_t count) { beside_.flops(component, count); }

      private:
        friend class ExactRecorder;
        Recorder::Worker& beside_;
        std::vector<RowWrite> writes_;
        std::vector<std::vector<std::byte>> codes_;  // of writes_
        std::vector<RowRead> reads_;
        std::int64_t fetches_ = 0;
    };

    explicit ExactRecorder(int workers) : recorder_(workers, {.digests = true}) {
        for (int i = 0; i < workers; ++i) workers_.emplace_back(recorder_.worker(i));
    }

    Worker& worker(int index) { return workers_[static_cast<std::size_t>(index)]; }
    Recorder& recorder() { return recorder_; }

    // All of these are sorted, and duplicates are kept.
    std::vector<RowWrite> writes() const { return gather(&Worker::writes_); }
    std::vector<RowRead> reads() const { return gather(&Worker::reads_); }
    std::int64_t fetches() const {
        std::int64_t sum = 0;
        for (const Worker& worker : workers_) sum += worker.fetches_;
        return sum;
    }
    // Every write with the bytes it left in the cache.
    std::vector<std::pair<RowWrite, std::vector<std::byte>>> stored() const {
        std::vector<std::pair<RowWrite, std::vector<std::byte>>> all;
        for (const Worker& worker : workers_) {
            for (std::size_t i = 0; i < worker.writes_.size(); ++i) {
                all.emplace_back(worker.writes_[i], worker.codes_[i]);
            }
        }
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    template <class Row>
    std::vector<Row> gather(std::vector<Row> Worker::*list) const {
        std::vector<Row> all;
        for (const Worker& worker : workers_) {
            all.insert(all.end(), (worker.*list).begin(), (worker.*list).end());
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    Recorder recorder_;
    std::deque<Worker> workers_;
};

}  // namespace kvtape
