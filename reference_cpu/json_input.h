// JSON that comes from outside: parsed strictly, and read field by field with errors that name the
// file and the key.
//
// Included by .cpp files only, because nlohmann/json is slow to compile.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

// Throws Error with `where` and the byte offset unless the text is one JSON object in valid UTF-8,
// in which no object has the same key twice (JSON leaves open which of them counts, and readers
// differ) and nothing is nested deeper than 64 levels.
nlohmann::json parse_json_object(std::string_view text, const std::string& where);

// A string from a file as it may appear in a one-line message: control characters escaped, cut
// after 80 bytes.
std::string one_line(std::string_view text);
std::string in_quotes(std::string_view text);  // the same in single quotes

// A JSON value as it may appear in a one-line message.
std::string shown(const nlohmann::json& value);

// The fields of one JSON object. Getters throw Error with the key, the value found and what was
// expected. A key that is `null` counts as absent.
class JsonFields {
  public:
    // `path` is the place of the object in the file: "" for the whole, else like "model.".
    JsonFields(const nlohmann::json& object, std::string where, std::string path = "");

    // The value, or nullptr if absent.
    const nlohmann::json* get(const std::string& key) const;
    bool has(const std::string& key) const { return get(key) != nullptr; }

    std::vector<std::string> keys() const;

    // Optional fields are empty if absent; the others must be there.
    std::optional<std::int64_t> optional_integer(const std::string& key, std::int64_t smallest,
                                                 std::int64_t largest) const;
    std::int64_t integer(const std::string& key, std::int64_t smallest, std::int64_t largest) const;
    std::optional<double> optional_number(const std::string& key) const;  // finite
    std::optional<bool> optional_bool(const std::string& key) const;
    std::optional<std::string> optional_string(const std::string& key) const;
    std::string string(const std::string& key) const;
    std::optional<JsonFields> optional_object(const std::string& key) const;
    JsonFields object(const std::string& key) const;
    const nlohmann::json& array(const std::string& key) const;

    // Throws Error: "<where>: <path><key> is <value>; <what to do>".
    [[noreturn]] void refuse(const std::string& key, const std::string& remedy) const;
    // Throws Error: "<where>: <path><key> is missing".
    [[noreturn]] void missing(const std::string& key) const;

    const std::string& where() const { return where_; }

  private:
    const nlohmann::json& object_;
    std::string where_;
    std::string path_;
};

}  // namespace kvtape
