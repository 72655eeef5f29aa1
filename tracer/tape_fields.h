// Taking a JSON value from outside apart: each function returns what it promises or throws Error
// with a phrase that names the field.
#pragma once

#include <cstdint>
#include <string>

#include "core/check.h"
#include "tracer/tape_format.h"
#include "tracer/utf8.h"

namespace kvtape::fields {

// The member `key` of an object, or null if there is none.
inline const Json* optional(const Json& object, const char* key) {
    if (!object.is_object()) fail("an object with \"", key, "\" was expected");
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

inline const Json& member(const Json& object, const char* key) {
    const Json* found = optional(object, key);
    if (found == nullptr) fail("\"", key, "\" is missing");
    return *found;
}

inline const Json::array_t& list(const Json& value, const char* what) {
    if (!value.is_array()) fail("\"", what, "\" is not a list");
    return value.get_ref<const Json::array_t&>();
}

// A list of exactly `size` values.
inline const Json::array_t& list(const Json& value, const char* what, std::size_t size) {
    const Json::array_t& values = list(value, what);
    if (values.size() != size) {
        fail("\"", what, "\" holds ", values.size(), " values instead of ", size);
    }
    return values;
}

inline std::string text(const Json& value, const char* what) {
    if (!value.is_string()) fail("\"", what, "\" is not a text");
    const auto& bytes = value.get_ref<const std::string&>();
    if (!is_utf8(bytes)) fail("\"", what, "\" is not UTF-8");
    return bytes;
}

inline std::int64_t integer(const Json& value, const char* what) {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!fits) fail("\"", what, "\" is not a 64-bit integer");
    return value.get<std::int64_t>();
}

inline std::int32_t integer32(const Json& value, const char* what) {
    const std::int64_t number = integer(value, what);
    if (number < INT32_MIN || number > INT32_MAX) fail("\"", what, "\" is ", number, ", too large");
    return static_cast<std::int32_t>(number);
}

inline bool boolean(const Json& value, const char* what) {
    if (!value.is_boolean()) fail("\"", what, "\" is neither true nor false");
    return value.get<bool>();
}

}  // namespace kvtape::fields
