// 64-bit FNV-1a (Fowler, Noll, Vo): a short hash for telling whether two runs had the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvtape {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;

// Of `count` bytes; `seed` continues an earlier hash.
inline std::uint64_t fnv1a(const void* data, std::size_t count, std::uint64_t seed = fnv1a_start) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count; ++i) seed = (seed ^ bytes[i]) * 0x100000001b3u;
    return seed;
}

}  // namespace kvtape
