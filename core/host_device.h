// The one header that knows which compiler it is read by: functions marked KVTAPE_HOST_DEVICE can
// be called on the CPU and, when nvcc compiles them, on the GPU too.
#pragma once

#if defined(__CUDACC__)
#define KVTAPE_HOST_DEVICE __host__ __device__
#else
#define KVTAPE_HOST_DEVICE
#endif

namespace kvtape {

// The same bits read as another type. std::bit_cast does this too, but nvcc takes it for a function
// of the host only; the builtin behind it works everywhere.
template <class To, class From>
KVTAPE_HOST_DEVICE constexpr To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, value);
}

}  // namespace kvtape
