#include "reference_cpu/json_input.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"

namespace kvtape {

using nlohmann::json;

namespace {

constexpr int deepest_nesting = 64;

}  // namespace

json parse_json_object(std::string_view text, const std::string& where) {
    std::vector<std::set<std::string>> keys_seen;  // of the objects that are open
    const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth > deepest_nesting) {
            fail(where, ": JSON is nested deeper than ", deepest_nesting, " levels");
        }
        if (event == json::parse_event_t::object_start) {
            keys_seen.emplace_back();
        } else if (event == json::parse_event_t::object_end) {
            keys_seen.pop_back();
        } else if (event == json::parse_event_t::key) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys_seen.back().insert(key).second) {
                fail(where, ": key ", in_quotes(key), " appears twice in one JSON object");
            }
        }
        return true;
    };
    json parsed;
    try {
        parsed = json::parse(text, check);
    } catch (const json::parse_error& error) {
        fail(where, ": is not valid JSON (or not valid UTF-8) at byte ", error.byte, " of ",
             text.size());
    } catch (const json::exception& error) {
        fail(where, ": a number in the JSON is out of range");
    }
    if (!parsed.is_object()) {
        fail(where, ": the JSON must be an object, but is ", shown(parsed));
    }
    return parsed;
}

std::string one_line(std::string_view text) {
    constexpr std::size_t longest = 80;
    std::size_t length = std::min(text.size(), longest);
    while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) {
        --length;  // do not cut a UTF-8 character in two
    }
    std::string safe;
    for (const char c : text.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            constexpr const char* digits = "0123456789abcdef";
            safe += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        } else {
            safe += c;
        }
    }
    return safe + (length < text.size() ? "..." : "");
}

std::string in_quotes(std::string_view text) {
    return "'" + one_line(text) + "'";
}

std::string shown(const json& value) {
    if (value.is_string()) {
        return in_quotes(value.get_ref<const std::string&>());
    }
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "an array";
    }
    return value.dump();
}

JsonFields::JsonFields(const json& object, std::string where, std::string path)
    : object_(object), where_(std::move(where)), path_(std::move(path)) {
    if (!object.is_object()) {
        fail(where_, ": ", path_.empty() ? "the JSON" : path_.substr(0, path_.size() - 1), " is ",
             shown(object), "; expected an object");
    }
}

const json* JsonFields::get(const std::string& key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::vector<std::string> JsonFields::keys() const {
    std::vector<std::string> keys;
    for (const auto& item : object_.items()) {
        keys.push_back(item.key());
    }
    return keys;
}

void JsonFields::refuse(const std::string& key, const std::string& remedy) const {
    const json* value = get(key);
    fail(where_, ": ", path_, one_line(key), " is ", value ? shown(*value) : "missing", "; ",
         remedy);
}

void JsonFields::missing(const std::string& key) const {
    fail(where_, ": ", path_, one_line(key), " is missing");
}

std::optional<std::int64_t> JsonFields::optional_integer(const std::string& key,
                                                         std::int64_t smallest,
                                                         std::int64_t largest) const {
    const json* value = get(key);
    if (!value) {
        return {};
    }
    // Numbers from 2^63 on are parsed as unsigned, numbers from 2^64 on as floating point.
    const bool fits =
        value->is_number_integer() &&
        !(value->is_number_unsigned() &&
          value->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    const std::int64_t number = fits ? value->get<std::int64_t>() : 0;
    if (!fits || number < smallest || number > largest) {
        refuse(key, "expected an integer from " + std::to_string(smallest) + " to " +
                        std::to_string(largest));
    }
    return number;
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t smallest,
                                 std::int64_t largest) const {
    const auto number = optional_integer(key, smallest, largest);
    return number ? *number : (missing(key), 0);
}

std::optional<double> JsonFields::optional_number(const std::string& key) const {
    const json* value = get(key);
    if (!value) {
        return {};
    }
    if (!value->is_number() || !std::isfinite(value->get<double>())) {
        refuse(key, "expected a finite number");
    }
    return value->get<double>();
}

std::optional<bool> JsonFields::optional_bool(const std::string& key) const {
    const json* value = get(key);
    if (!value) {
        return {};
    }
    if (!value->is_boolean()) {
        refuse(key, "expected true or false");
    }
    return value->get<bool>();
}

std::optional<std::string> JsonFields::optional_string(const std::string& key) const {
    const json* value = get(key);
    if (!value) {
        return {};
    }
    if (!value->is_string()) {
        refuse(key, "expected a string");
    }
    return value->get<std::string>();
}

std::string JsonFields::string(const std::string& key) const {
    auto text = optional_string(key);
    return text ? *text : (missing(key), "");
}

std::optional<JsonFields> JsonFields::optional_object(const std::string& key) const {
    const json* value = get(key);
    if (!value) {
        return {};
    }
    return JsonFields(*value, where_, path_ + one_line(key) + ".");
}

JsonFields JsonFields::object(const std::string& key) const {
    const json* value = get(key);
    return value ? JsonFields(*value, where_, path_ + one_line(key) + ".") : (missing(key), *this);
}

const json& JsonFields::array(const std::string& key) const {
    const json* value = get(key);
    if (!value) {
        missing(key);
    }
    if (!value->is_array()) {
        refuse(key, "expected an array");
    }
    return *value;
}

}  // namespace kvtape
