// Safetensors: the file format of the weights. (https://github.com/huggingface/safetensors)
//
//   8 bytes             N, the length of the header, little endian
//   N bytes             the header: JSON that gives each tensor a dtype, a shape and a byte range
//   the rest            the data: the tensors' elements, row-major, little endian
//
// The file comes from outside and is hostile until checked. `open` and `parse` check all of it, in
// 64 bits, against the length of the file and before anything is allocated from a claimed size:
// afterwards every TensorInfo lies inside the data, no two overlap, and no byte is left over. Holes
// and trailing bytes are refused as well, as the format demands; they would mean that the header
// and the data do not belong together.
//
// Data may start at any address (a real header has 38,613 bytes), so elements are copied out and
// never read through a cast pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference_cpu/input_file.h"
#include "reference_cpu/safetensors_header.h"

namespace kvtape {

class SafetensorsFile {
  public:
    // Maps the file; it must not be shortened while this object lives.
    static SafetensorsFile open(const std::string& path);

    // The same on bytes in memory, which must outlive this object. `where` names them in errors.
    static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& where);

    const std::string& where() const { return where_; }  // the path, for errors

    bool has(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
    std::vector<std::string> names() const;  // sorted

    // Throws Error if there is no tensor of that name.
    const TensorInfo& find(std::string_view name) const;

    // The tensor as float32, row-major; F16 and BF16 are widened, which is exact. Throws Error if
    // the tensor is absent, its shape is not `expected_shape` (both are named), its dtype is
    // another one, or one of its elements is NaN or infinite (its index is named).
    std::vector<float> load_f32(std::string_view name,
                                const std::vector<std::int64_t>& expected_shape) const;

  private:
    SafetensorsFile() = default;
    void read_header(std::span<const std::byte> bytes);

    InputFile file_;  // empty if the bytes belong to somebody else
    std::string where_;
    std::span<const std::byte> data_;
    TensorTable tensors_;
};

}  // namespace kvtape
