// The memory of a cache: an array of K rows and behind it one of V rows, in codes of the cache's
// dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kv_dtype.h"
#include "reference_cpu/huge_pages.h"
#include "tracer/run.h"

namespace kvtape {

class KvStorage {
  public:
    // Room for `elements` numbers of K and as many of V. Every byte starts as 0xFF, which is NaN in
    // all five formats: a row that is read before it was written cannot pass for a number.
    KvStorage(std::int64_t elements, KvDtype dtype)
        : element_bytes_(bytes_per_element(dtype)),
          kind_bytes_(elements * element_bytes_),
          value_begin_((kind_bytes_ + cache_line - 1) / cache_line * cache_line),
          codes_(value_begin_ + kind_bytes_) {
        std::memset(codes_.data(), 0xFF, static_cast<std::size_t>(codes_.size()));
    }

    // Address of the element at `offset`, as computed by a layout of core/layout.h.
    std::byte* at(Kind kind, std::int64_t offset) {
        return codes_.data() + (kind == Kind::key ? 0 : value_begin_) + offset * element_bytes_;
    }

    std::int64_t bytes() const { return 2 * kind_bytes_; }

  private:
    static constexpr std::int64_t cache_line = 64;

    std::int64_t element_bytes_;
    std::int64_t kind_bytes_;   // of K, and of V
    std::int64_t value_begin_;  // where V begins
    // One allocation, so that what is too large is refused before any of it is written to.
    HugePageBuffer<std::byte> codes_;
};

}  // namespace kvtape
