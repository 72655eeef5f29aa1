// Whether a sanitizer keeps watch over memory. It takes terabytes of address space for itself and
// ends the program when an allocation fails, so tests of scarce memory are skipped there.
#pragma once

namespace kvtape {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool memory_is_sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool memory_is_sanitized = false;
#endif

}  // namespace kvtape
