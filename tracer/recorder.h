// Who listens to the cache. A kernel reaches K and V rows through a KvView only, and the view
// reports every access to a tracer. The tracer is a type, chosen when the forward pass is compiled:
//
//   NullTracer   listens to nothing; every call is an empty inline function and vanishes.
//   Recorder     keeps runs (tracer/run.h) and FLOP counts of one step at a time.
//
// Each worker thread reports to a Worker of its own, so nothing is locked. `take_step` joins their
// runs into the canonical form, which is the same for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tracer/flops.h"
#include "tracer/run.h"
#include "tracer/step.h"

namespace kvtape {

struct NullTracer {
    struct Worker {
        void write(const RowWrite&, const std::byte*, std::int64_t) {}
        void read(const ReadRun&) {}
        void flops(Component, std::int64_t) {}
    };
    static constexpr bool enabled = false;

    Worker worker(int) { return {}; }
};

// Which bits were stored in a row: a 64-bit FNV-1a hash of its codes.
struct RowDigest {
    RowWrite row;
    std::uint64_t digest;
};

// What is remembered of a stored row beside where it went.
struct RowKeeping {
    bool digests = false;  // a hash of its bits
    bool codes = false;    // its bits
};

class Recorder {
  public:
    static constexpr bool enabled = true;

    class Worker {
      public:
        // One row was stored; `codes` are its bytes as they now lie in the cache.
        void write(const RowWrite& row, const std::byte* codes, std::int64_t bytes);
        // One query fetched rows [key_begin, key_end): `row` names one query and is not causal.
        void read(const ReadRun& row);
        // A kernel finished this many FLOPs, derived from the shapes it really executed.
        void flops(Component component, std::int64_t count) { flops_[component] += count; }

      private:
        friend class Recorder;

        // The rows that one query reads from one (KV head, kind) arrive block by block; `row` joins
        // them, and finished rows join into `run`.
        struct OpenRead {
            ReadRun row{};
            ReadRun run{};
            bool has_row = false;
            bool has_run = false;
        };

        void finish_row(OpenRead& open);
        void finish(OpenRead& open);
        void finish_all();

        // One stored row, bit for bit.
        struct Codes {
            RowWrite row;
            std::string codes;
        };

        RowKeeping keep_;
        std::vector<OpenRead> open_reads_;   // (G, 2), one per (KV head, kind) of the current layer
        std::vector<WriteRun> open_writes_;  // (G, 2), likewise; no rows = nothing open
        std::vector<WriteRun> writes_;
        std::vector<ReadRun> reads_;
        std::vector<RowDigest> digests_;
        std::vector<Codes> codes_;
        FlopCounts flops_;
    };

    // What happened since the last call.
    struct StepAccesses {
        std::vector<WriteRun> writes;    // canonical
        std::vector<ReadRun> reads;      // canonical
        std::vector<RowDigest> digests;  // sorted by row; empty unless kept
        std::vector<StoredRows> rows;    // those that are new or changed; empty unless kept
        FlopCounts flops;
    };

    explicit Recorder(int workers, RowKeeping keep = {});

    Worker& worker(int index) { return workers_[static_cast<std::size_t>(index)]; }
    StepAccesses take_step();

  private:
    using RowName = std::tuple<std::int32_t, std::int32_t, std::int32_t, Kind, std::int64_t>;

    std::vector<StoredRows> take_rows();

    std::vector<Worker> workers_;
    std::map<RowName, std::uint64_t> listed_;  // digests of the codes last listed
};

}  // namespace kvtape
