// The header of a safetensors file: a JSON object with one entry per tensor,
//
//   "model.norm.weight": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}
//
// and perhaps "__metadata__". Each entry is checked by itself here; that the tensors fit into the
// file and beside each other is checked in safetensors.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

struct TensorInfo {
    std::string dtype;                // as the file spells it: "F32", "BF16", "I64", ...
    std::vector<std::int64_t> shape;  // outermost dimension first; empty for a scalar
    std::int64_t elements = 0;        // product of the shape
    std::int64_t begin = 0;           // bytes from the start of the data; begin <= end, and
    std::int64_t end = 0;             // end - begin is what the elements take
};

using TensorTable = std::map<std::string, TensorInfo, std::less<>>;  // by name

// Throws Error with `where`, the tensor and the field.
TensorTable parse_safetensors_header(std::string_view header, const std::string& where);

// "[2, 3]"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace kvtape
