// The number formats a cache can store its rows in (vLLM's `kv_cache_dtype`). The conversions are
// in core/number_format.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvtape {

enum class KvDtype : std::uint8_t { f32, f16, bf16, fp8_e4m3, fp8_e5m2 };

inline constexpr KvDtype all_kv_dtypes[] = {KvDtype::f32, KvDtype::f16, KvDtype::bf16,
                                            KvDtype::fp8_e4m3, KvDtype::fp8_e5m2};

// Bytes of one stored number.
constexpr std::int64_t bytes_per_element(KvDtype dtype) {
    switch (dtype) {
        case KvDtype::f32:
            return 4;
        case KvDtype::f16:
        case KvDtype::bf16:
            return 2;
        case KvDtype::fp8_e4m3:
        case KvDtype::fp8_e5m2:
            return 1;
    }
    return 0;
}

// "f32", "f16", "bf16", "fp8_e4m3" or "fp8_e5m2".
const char* name(KvDtype dtype);

// The dtype of that name; "fp8" is fp8_e4m3 as in vLLM. Throws Error with the list of names; the
// "fnuz" variants of other vendors are refused by name, because their codes mean other numbers.
KvDtype parse_kv_dtype(std::string_view text);

}  // namespace kvtape
