// The simple cache: one array per sequence, [layer][kv_head][position][D], reserved in full when
// the sequence starts. Easy to address; but a sequence of ten tokens holds memory for `capacity` of
// them.
#pragma once

#include <map>
#include <memory>

#include "core/layout.h"
#include "reference_cpu/kv_cache.h"
#include "reference_cpu/kv_storage.h"

namespace kvtape {

class ContiguousCache : public KvCache {
  public:
    // `capacity`: positions reserved for each sequence, usually max_model_len.
    ContiguousCache(const ModelShape& shape, KvDtype dtype, std::int64_t capacity, float scale = 1);

    Lane lane() const override;
    std::int64_t length(SequenceId sequence) const override;
    void check_room(std::span<const Reservation> wanted) const override;
    void reserve(SequenceId sequence, std::int64_t end) override;
    void commit(SequenceId sequence, std::int64_t end) override;
    void release(SequenceId sequence) override;
    void fork(SequenceId source, SequenceId target) override;
    std::int64_t bytes_held() const override;

  protected:
    Place place(const RowKey& key, std::int64_t position) override;

  private:
    struct Slab {
        KvStorage storage;
        std::int64_t length = 0;
        std::int64_t reserved = 0;    // positions promised to the pass in progress
        std::int64_t slot_begin = 0;  // slot of position 0
    };

    Slab& slab(SequenceId sequence);
    std::unique_ptr<Slab> new_slab() const;

    ContiguousLayout layout_;
    std::map<SequenceId, std::unique_ptr<Slab>> slabs_;
};

}  // namespace kvtape
