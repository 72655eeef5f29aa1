// How a run is held before a layer: through its cache.
#pragma once

#include "reference_cpu/kv_cache.h"
#include "viewer/pace_gate.h"

namespace kvtape {

// A cache that asks the gate before it shows where a row lies. Every row stored or fetched comes
// by here, so a run can be held before any layer, and stopped in the middle of one.
template <class Cache>
class GatedCache : public Cache {
  public:
    template <class... Arguments>
    explicit GatedCache(PaceGate& gate, const Arguments&... arguments)
        : Cache(arguments...), gate_(gate) {}

    void reserve(SequenceId sequence, std::int64_t end) override {
        Cache::reserve(sequence, end);
        gate_.pass_stores(Cache::length(sequence), end);
    }

  protected:
    KvCache::Place place(const RowKey& key, std::int64_t position) override {
        gate_.enter_layer(key.layer);
        return Cache::place(key, position);
    }

  private:
    PaceGate& gate_;
};

}  // namespace kvtape
