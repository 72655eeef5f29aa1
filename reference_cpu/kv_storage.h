// The memory of a cache: one array of K rows and one of V rows, in codes of the cache's dtype.
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
          key_(elements * element_bytes_),
          value_(elements * element_bytes_) {
        std::memset(key_.data(), 0xFF, static_cast<std::size_t>(key_.size()));
        std::memset(value_.data(), 0xFF, static_cast<std::size_t>(value_.size()));
    }

    // Address of the element at `offset`, as computed by a layout of core/layout.h.
    std::byte* at(Kind kind, std::int64_t offset) {
        return (kind == Kind::key ? key_ : value_).data() + offset * element_bytes_;
    }

    std::int64_t bytes() const { return key_.size() + value_.size(); }

  private:
    std::int64_t element_bytes_;
    HugePageBuffer<std::byte> key_;
    HugePageBuffer<std::byte> value_;
};

}  // namespace kvtape
