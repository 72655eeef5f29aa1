#include "core/kv_dtype.h"

#include <string>

#include "core/check.h"

namespace kvtape {

const char* name(KvDtype dtype) {
    switch (dtype) {
        case KvDtype::f32:
            return "f32";
        case KvDtype::f16:
            return "f16";
        case KvDtype::bf16:
            return "bf16";
        case KvDtype::fp8_e4m3:
            return "fp8_e4m3";
        case KvDtype::fp8_e5m2:
            return "fp8_e5m2";
    }
    return "unknown";
}

KvDtype parse_kv_dtype(std::string_view text) {
    if (text == "fp8") return KvDtype::fp8_e4m3;
    std::string names;
    for (const KvDtype dtype : all_kv_dtypes) {
        if (text == name(dtype)) return dtype;
        names += names.empty() ? "" : ", ";
        names += name(dtype);
    }
    if (text.find("fnuz") != std::string_view::npos) {
        fail("KV cache dtype '", text, "' is not supported: the codes of a fnuz type mean other ",
             "numbers than those of the OCP type of the same width; use one of ", names);
    }
    fail("unknown KV cache dtype '", text, "'; use one of ", names);
}

}  // namespace kvtape
