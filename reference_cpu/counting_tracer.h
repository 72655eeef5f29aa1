// A tracer that checks the kernels' reports. Each time a kernel of a Counted model reports its
// FLOPs, the operations tallied since the previous report are booked under the same component. At
// the end `reported` and `tallied` must be equal.
#pragma once

#include "reference_cpu/counted.h"
#include "tracer/recorder.h"

namespace kvtape {

// For a team of one thread.
class CountingTracer {
  public:
    struct Worker {
        void write(const RowWrite&, const std::byte*, std::int64_t) {}
        void read(const ReadRun&) {}
        void flops(Component component, std::int64_t count) {
            reported[component] += count;
            tallied[component] += operation_tally.total() - booked;
            booked = operation_tally.total();
        }

        FlopCounts reported;
        FlopCounts tallied;
        std::int64_t booked = operation_tally.total();
    };

    Worker& worker(int) { return worker_; }
    const FlopCounts& reported() const { return worker_.reported; }
    const FlopCounts& tallied() const { return worker_.tallied; }

  private:
    Worker worker_;
};

}  // namespace kvtape
