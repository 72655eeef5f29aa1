#include "reference_cpu/safetensors_header.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/check.h"
#include "reference_cpu/json_input.h"

namespace kvtape {
namespace {

using nlohmann::json;

constexpr std::size_t most_dimensions = 16;
constexpr std::int64_t largest_int64 = std::numeric_limits<std::int64_t>::max();

// The dtypes of the format. Only F32, F16 and BF16 can be loaded, but the checks cover all tensors.
struct Dtype {
    const char* name;
    std::int64_t bits;  // of one element
};
constexpr Dtype dtypes[] = {{"BOOL", 8},    {"U8", 8},      {"I8", 8},      {"F8_E5M2", 8},
                            {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"U16", 16},    {"I16", 16},
                            {"F16", 16},    {"BF16", 16},   {"U32", 32},    {"I32", 32},
                            {"F32", 32},    {"U64", 64},    {"I64", 64},    {"F64", 64},
                            {"C64", 64},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}};

// a * b for numbers that are not negative; false if the product does not fit into 63 bits.
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
    if (b != 0 && a > largest_int64 / b) {
        return false;
    }
    product = a * b;
    return true;
}

// A short array of integers in [0, 2^63).
std::vector<std::int64_t> sizes(const JsonFields& fields, const char* key) {
    const json& array = fields.array(key);
    if (array.size() > most_dimensions) {
        fail(fields.where(), ": ", key, " holds ", array.size(), " numbers; at most ",
             most_dimensions, " are accepted");
    }
    std::vector<std::int64_t> numbers;
    for (const json& element : array) {
        if (!element.is_number_unsigned() ||
            element.get<std::uint64_t>() > std::uint64_t{largest_int64}) {
            fail(fields.where(), ": ", key, " holds ", shown(element),
                 "; expected integers from 0 to 2^63 - 1");
        }
        numbers.push_back(element.get<std::int64_t>());
    }
    return numbers;
}

// One entry of the header. `where` names the tensor.
TensorInfo parse_tensor(const json& entry, const std::string& where) {
    const JsonFields fields(entry, where);
    for (const auto& item : entry.items()) {
        if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
            fail(where, ": unknown key ", in_quotes(item.key()), " in the header");
        }
    }
    TensorInfo tensor;
    tensor.dtype = fields.string("dtype");
    const auto* const dtype =
        std::find_if(std::begin(dtypes), std::end(dtypes),
                     [&](const Dtype& known) { return tensor.dtype == known.name; });
    if (dtype == std::end(dtypes)) {
        fail(where, ": unknown dtype ", in_quotes(tensor.dtype));
    }

    tensor.shape = sizes(fields, "shape");
    tensor.elements = 1;
    std::int64_t bits = 0;
    for (const std::int64_t dimension : tensor.shape) {
        if (!multiply(tensor.elements, dimension, tensor.elements)) {
            fail(where, ": shape ", shape_text(tensor.shape), " has more than 2^63 elements");
        }
    }
    if (!multiply(tensor.elements, dtype->bits, bits)) {
        fail(where, ": shape ", shape_text(tensor.shape), " of ", tensor.dtype,
             " has too many bytes");
    }
    if (bits % 8 != 0) {
        fail(where, ": shape ", shape_text(tensor.shape), " of ", tensor.dtype,
             " does not end on a whole byte");
    }

    const std::vector<std::int64_t> offsets = sizes(fields, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
        fail(where, ": data_offsets are ", shape_text(offsets),
             "; expected [begin, end], begin <= end");
    }
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    if (tensor.end - tensor.begin != bits / 8) {
        fail(where, ": shape ", shape_text(tensor.shape), " of ", tensor.dtype, " takes ", bits / 8,
             " bytes, but data_offsets span ", tensor.end - tensor.begin);
    }
    return tensor;
}

// "__metadata__" may hold anything as long as it maps strings to strings. Nothing of it is used.
void check_metadata(const json& metadata, const std::string& where) {
    const JsonFields fields(metadata, where, "__metadata__.");
    for (const auto& item : metadata.items()) {
        if (!item.value().is_string()) {
            fail(where, ": __metadata__ ", in_quotes(item.key()), " is not a string");
        }
    }
}

}  // namespace

TensorTable parse_safetensors_header(std::string_view header, const std::string& where) {
    const json entries = parse_json_object(header, where + ": header");
    TensorTable tensors;
    for (const auto& entry : entries.items()) {
        if (entry.key() == "__metadata__") {
            check_metadata(entry.value(), where);
        } else {
            tensors.emplace(entry.key(), parse_tensor(entry.value(), where + ": tensor " +
                                                                         in_quotes(entry.key())));
        }
    }
    return tensors;
}

std::string shape_text(const std::vector<std::int64_t>& numbers) {
    std::string text = "[";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i ? ", " : "") + std::to_string(numbers[i]);
    }
    return text + "]";
}

}  // namespace kvtape
