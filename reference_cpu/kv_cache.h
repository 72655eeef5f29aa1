// What a KV cache is: a place for the K and V rows of every (sequence, layer, KV head, position),
// and the answer to one question: how many positions of this sequence do you hold? The next forward
// pass is given the tokens from there on. That single number is all the difference between the
// three:
//
//   NoCache          holds 0 after every pass, so every pass is given the whole prefix.
//   ContiguousCache  holds everything, in one array per sequence reserved for the longest case.
//   PagedCache       holds everything, in blocks of B positions taken from a shared pool.
//
// Nobody reads or writes a row through this interface. Rows are reached through a KvView only
// (reference_cpu/kv_view.h), which reports every access to the tracer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kv_dtype.h"
#include "core/shape.h"
#include "tracer/step.h"

namespace kvtape {

using SequenceId = std::int32_t;

// Which of a sequence's rows.
struct RowKey {
    SequenceId sequence;
    std::int32_t layer;
    std::int32_t kv_head;
    Kind kind;
};

// Room that a pass asks for: positions [length, end) of a sequence.
struct Reservation {
    SequenceId sequence;
    std::int64_t end;
};

class KvCache {
  public:
    KvCache(const ModelShape& shape, KvDtype dtype, float scale)
        : shape_(shape), dtype_(dtype), scale_(scale) {}
    virtual ~KvCache() = default;
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    const ModelShape& shape() const { return shape_; }
    KvDtype dtype() const { return dtype_; }
    // fp8 rows store value / scale; 1 for the other formats.
    float scale() const { return scale_; }
    std::int64_t row_bytes() const { return shape_.head_dim * bytes_per_element(dtype_); }

    // How the cache calls itself on the tape: "none", "contiguous" or "paged", with its block
    // sizes.
    virtual Lane lane() const = 0;

    // Positions [0, length) of the sequence are held; 0 for a sequence never seen.
    virtual std::int64_t length(SequenceId sequence) const = 0;

    // Throws Error unless there is room for all of these, of different sequences, together.
    virtual void check_room(std::span<const Reservation> wanted) const = 0;

    // Makes room for positions [length, end). Throws Error, with nothing changed, when there is
    // none.
    virtual void reserve(SequenceId sequence, std::int64_t end) = 0;

    // The same for a batch, all of it or nothing: a batch that is refused has taken no memory that
    // another one could use.
    void reserve_all(std::span<const Reservation> wanted) {
        check_room(wanted);
        for (const auto& [sequence, end] : wanted) reserve(sequence, end);
    }

    // The pass that wrote positions [length, end) is over.
    virtual void commit(SequenceId sequence, std::int64_t end) = 0;

    // The sequence is finished; its memory may be used by others.
    virtual void release(SequenceId sequence) = 0;

    // Makes `target` start with the same rows as `source`. Neither is changed by what the other
    // does next. Throws Error when there is no room, or when target already exists.
    virtual void fork(SequenceId source, SequenceId target) = 0;

    // Bytes of storage set aside for sequences now.
    virtual std::int64_t bytes_held() const = 0;

    // What happened to blocks since the last call; empty unless paged.
    virtual std::vector<PoolEvent> take_pool_events() { return {}; }

  protected:
    // Where the row of a position lies, and how many rows, this one included, follow one another in
    // memory from there on (the rest of the block, for a paged cache).
    struct Place {
        std::byte* row;     // (rows_together, D) codes
        std::int64_t slot;  // number of the row in the whole storage
        std::int64_t rows_together;
    };

  private:
    template <class Tracer>
    friend class KvView;

    // `position` lies below the end of the last reserve().
    virtual Place place(const RowKey& key, std::int64_t position) = 0;

    ModelShape shape_;
    KvDtype dtype_;
    float scale_;
};

}  // namespace kvtape
