// The writing side of safetensors, for the tests and for tools that make models: float32 only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvtape {

struct NamedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;  // row-major, as many as the product of the shape
};

// The bytes of a file with these tensors, in this order. Names must differ.
std::string safetensors_bytes(const std::vector<NamedTensor>& tensors);

// Writes the file beside its place and then renames it, so that a crash or a full disk leaves
// either the old file or the new one, never half of one. Throws Error.
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors);

}  // namespace kvtape
