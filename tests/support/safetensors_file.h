// Safetensors files put together by hand, so that any part of them can be wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "reference_cpu/safetensors.h"

namespace kvtape {

// 8 bytes of `claimed_header_bytes`, the header, the data.
inline std::string safetensors_with_length(std::uint64_t claimed_header_bytes,
                                           const std::string& header, const std::string& data) {
    std::string file(sizeof(claimed_header_bytes), '\0');
    std::memcpy(file.data(), &claimed_header_bytes, sizeof(claimed_header_bytes));
    return file + header + data;
}

inline std::string safetensors_of(const std::string& header, const std::string& data) {
    return safetensors_with_length(header.size(), header, data);
}

// `file` must outlive the result.
inline SafetensorsFile parse_safetensors(const std::string& file) {
    return SafetensorsFile::parse(std::as_bytes(std::span(file)), "weights");
}

}  // namespace kvtape
