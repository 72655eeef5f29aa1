#include "reference_cpu/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/number_format.h"
#include "reference_cpu/json_input.h"

static_assert(std::endian::native == std::endian::little, "safetensors data is little endian");

namespace kvtape {
namespace {

constexpr std::int64_t length_field_bytes = 8;
constexpr std::uint64_t longest_header_bytes = 100'000'000;  // the limit of the format

// The header's text, which starts after the length field.
std::string_view cut_header(std::span<const std::byte> file, const std::string& where) {
    if (file.size() < length_field_bytes) {
        fail(where, ": is ", file.size(),
             " bytes, too short for a safetensors file, which starts with an 8-byte length");
    }
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, file.data(), length_field_bytes);
    if (header_bytes > longest_header_bytes) {
        fail(where, ": header length is ", header_bytes, " bytes, more than the ",
             longest_header_bytes, " that safetensors allows; is this a safetensors file?");
    }
    if (header_bytes > file.size() - length_field_bytes) {
        fail(where, ": header length is ", header_bytes, " bytes, but the file has only ",
             file.size(), "; is the download complete?");
    }
    const std::string_view header(reinterpret_cast<const char*>(file.data()) + length_field_bytes,
                                  header_bytes);
    if (header.empty() || header.front() != '{') {
        fail(where, ": the header does not start with '{'; is this a safetensors file?");
    }
    return header;
}

// Every byte of the data must belong to exactly one tensor.
void check_spans(const TensorTable& tensors, std::int64_t header_bytes, std::int64_t data_bytes,
                 const std::string& where) {
    std::vector<const TensorTable::value_type*> by_offset;
    for (const auto& entry : tensors) {
        by_offset.push_back(&entry);
    }
    const auto offsets = [](const TensorTable::value_type* entry) {
        return std::tie(entry->second.begin, entry->second.end, entry->first);
    };
    std::sort(by_offset.begin(), by_offset.end(),
              [&](const auto* a, const auto* b) { return offsets(a) < offsets(b); });

    // Reach first: a file cut short is the most common fault, and should be called that.
    for (const auto* entry : by_offset) {
        if (entry->second.end > data_bytes) {
            // The sum is not computed, since it could pass 2^63.
            fail(where, ": tensor ", in_quotes(entry->first), " needs a file of at least 8 + ",
                 header_bytes, " + ", entry->second.end, " bytes, but the file has ",
                 length_field_bytes + header_bytes + data_bytes, "; is the download complete?");
        }
    }
    std::int64_t covered = 0;
    const std::string* previous = nullptr;
    for (const auto* entry : by_offset) {
        const auto& [name, tensor] = *entry;
        if (tensor.begin < covered) {
            fail(where, ": tensors ", in_quotes(*previous), " and ", in_quotes(name),
                 " overlap: the first ends at ", covered, ", the second begins at ", tensor.begin);
        }
        if (tensor.begin > covered) {
            fail(where, ": bytes ", covered, " to ", tensor.begin, " of the data, before tensor ",
                 in_quotes(name), ", belong to no tensor; the file is damaged");
        }
        covered = tensor.end;
        previous = &name;
    }
    if (covered < data_bytes) {
        fail(where, ": ", data_bytes - covered,
             " bytes after the last tensor belong to no tensor; the file is damaged");
    }
}

// "[1, 0, 2]" for element 6 of a row-major (2, 2, 4) tensor.
std::string index_of(std::size_t element, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> index(shape.size());
    auto rest = static_cast<std::int64_t>(element);
    for (std::size_t i = shape.size(); i-- > 0;) {
        index[i] = rest % shape[i];
        rest /= shape[i];
    }
    return shape_text(index);
}

// Copies elements of type Stored, which may lie at any address, and widens each of them.
template <class Stored, class Widen>
void copy_elements(const std::byte* source, std::vector<float>& values, Widen widen) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        Stored stored;
        std::memcpy(&stored, source + i * sizeof(Stored), sizeof(Stored));
        values[i] = widen(stored);
    }
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
    std::error_code ignored;  // InputFile will say what is wrong with the path
    if (!std::filesystem::exists(path, ignored) &&
        std::filesystem::exists(path + ".index.json", ignored)) {
        fail(path, ".index.json: the model is split into several files (sharded); join them into ",
             "one ", path, " first");
    }
    SafetensorsFile opened;
    opened.file_ = InputFile(path);
    opened.where_ = path;
    opened.read_header(opened.file_.bytes());
    return opened;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string& where) {
    SafetensorsFile parsed;
    parsed.where_ = where;
    parsed.read_header(bytes);
    return parsed;
}

void SafetensorsFile::read_header(std::span<const std::byte> bytes) {
    const std::string_view header = cut_header(bytes, where_);
    data_ = bytes.subspan(length_field_bytes + header.size());
    tensors_ = parse_safetensors_header(header, where_);
    check_spans(tensors_, static_cast<std::int64_t>(header.size()),
                static_cast<std::int64_t>(data_.size()), where_);
}

std::vector<std::string> SafetensorsFile::names() const {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : tensors_) {
        result.push_back(name);
    }
    return result;
}

const TensorInfo& SafetensorsFile::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
        fail(where_, ": has no tensor ", in_quotes(name));
    }
    return found->second;
}

std::vector<float> SafetensorsFile::load_f32(
    std::string_view name, const std::vector<std::int64_t>& expected_shape) const {
    const TensorInfo& tensor = find(name);
    const auto error_start = [&] { return where_ + ": tensor " + in_quotes(name); };
    if (tensor.shape != expected_shape) {
        fail(error_start(), " has shape ", shape_text(tensor.shape), "; the config asks for ",
             shape_text(expected_shape));
    }
    if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16") {
        fail(error_start(), " has dtype ", tensor.dtype, "; kvtape loads F32, F16 and BF16");
    }
    const std::byte* const source = data_.data() + tensor.begin;
    std::vector<float> values(static_cast<std::size_t>(tensor.elements));
    if (tensor.dtype == "F32") {
        copy_elements<float>(source, values, [](float value) { return value; });
    } else if (tensor.dtype == "F16") {
        copy_elements<std::uint16_t>(source, values, decode<f16_format>);
    } else {
        copy_elements<std::uint16_t>(source, values, decode<bf16_format>);
    }
    const auto bad = std::find_if_not(values.begin(), values.end(),
                                      [](float value) { return std::isfinite(value); });
    if (bad != values.end()) {
        fail(error_start(), " holds ", *bad, " at index ",
             index_of(static_cast<std::size_t>(bad - values.begin()), tensor.shape),
             "; the weights are damaged");
    }
    return values;
}

}  // namespace kvtape
