// A cache that lets a test look at its stored rows, behind the back of the tracer.
#pragma once

#include <cstring>
#include <vector>

#include "reference_cpu/kv_cache.h"

namespace kvtape {

template <class Cache>
class Peek : public Cache {
  public:
    using Cache::Cache;

    // The codes of a row as they lie in memory.
    std::vector<std::byte> codes(const RowKey& key, std::int64_t position) {
        const std::byte* row = Cache::place(key, position).row;
        return {row, row + this->row_bytes()};
    }
    std::int64_t slot(const RowKey& key, std::int64_t position) {
        return Cache::place(key, position).slot;
    }
    // Writes `from` over `to`, as a kernel with a wrong index would.
    void copy_row(const RowKey& key, std::int64_t from, std::int64_t to) {
        std::memcpy(Cache::place(key, to).row, Cache::place(key, from).row,
                    static_cast<std::size_t>(this->row_bytes()));
    }
    std::byte* raw(const RowKey& key, std::int64_t position) {
        return Cache::place(key, position).row;
    }
};

}  // namespace kvtape
