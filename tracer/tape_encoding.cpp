#include "tracer/tape_encoding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

// Tag 24, then a byte string whose length is written in four bytes, most significant first.
constexpr unsigned char frame_start[] = {0xd8, 0x18, 0x5a};
constexpr std::size_t frame_bytes = sizeof(frame_start) + 4;

[[noreturn]] void too_many_values() {
    fail("it holds more than ", max_record_values, " values");
}

[[noreturn]] void too_deep() {
    fail("it holds lists more than ", max_record_depth, " deep");
}

[[noreturn]] void too_many_keys() {
    fail("it holds an object of more than ", max_object_keys, " keys");
}

// Nesting, values and keys of a JSON text, counted from its brackets, commas and colons. Whether
// the text is JSON at all is left to the parser, which then cannot run out of memory.
void check_json_size(std::string_view text) {
    std::int64_t depth = 0, values = 1;
    std::array<std::int64_t, max_record_depth + 1> keys{};  // of the open object at each depth
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_record_depth) too_deep();
            keys[static_cast<std::size_t>(depth)] = 0;
            ++values;
        } else if (c == ']' || c == '}') {
            depth = std::max<std::int64_t>(depth - 1, 0);
        } else if (c == ':') {
            if (++keys[static_cast<std::size_t>(depth)] > max_object_keys) too_many_keys();
        } else if (c == ',') {
            ++values;
        }
        if (values > max_record_values) too_many_values();
    }
}

// Goes once through a CBOR value and refuses what a tape does not use: lengths that are not given,
// byte strings and tags within a record. What is left is well-formed, not too deep and not too
// large, so the parser (which calls itself at each level) is safe.
class CborCheck {
  public:
    explicit CborCheck(std::string_view bytes) : bytes_(bytes) {}

    void run() {
        std::vector<std::uint64_t> to_come = {1};  // values that are due, at each level
        while (!to_come.empty()) {
            if (to_come.back() == 0) {
                to_come.pop_back();
                continue;
            }
            --to_come.back();
            if (++values_ > max_record_values) too_many_values();
            const std::uint64_t children = value();
            if (children > 0) to_come.push_back(children);
            if (static_cast<std::int64_t>(to_come.size()) > max_record_depth + 1) too_deep();
        }
        if (at_ != bytes_.size()) fail("bytes follow its value");
    }

  private:
    enum Major : unsigned { positive, negative, byte_string, text, array, map, tag, simple };

    unsigned next_byte() {
        if (at_ >= bytes_.size()) fail("it ends within a value");
        return static_cast<unsigned char>(bytes_[at_++]);
    }

    void skip(std::uint64_t count) {
        if (count > bytes_.size() - at_) fail("it ends within a value");
        at_ += count;
    }

    // The argument that follows the first byte of a value (RFC 8949 section 3).
    std::uint64_t argument(unsigned info) {
        if (info < 24) return info;
        if (info > 27) fail("it uses a CBOR form that tapes do not");
        std::uint64_t number = 0;
        for (int bytes = 1 << (info - 24); bytes > 0; --bytes) number = number << 8 | next_byte();
        return number;
    }

    // Steps over one value; returns how many values it contains.
    std::uint64_t value() {
        const unsigned first = next_byte();
        const unsigned major = first >> 5;
        if (major == simple) {  // false, true and null; half, single and double floats
            const unsigned info = first & 31;
            const bool known = (info >= 20 && info <= 22) || (info >= 25 && info <= 27);
            if (!known) fail("it uses a CBOR form that tapes do not");
            if (info >= 25) skip(std::uint64_t{1} << (info - 24));
            return 0;
        }
        const std::uint64_t number = argument(first & 31);
        switch (major) {
            case positive:
                return 0;
            case negative:
                if (number > INT64_MAX) fail("a number is below the 64-bit range");
                return 0;
            case text:
                skip(number);
                return 0;
            case array:
            case map:
                if (number > bytes_.size() - at_) fail("it ends within a list");
                if (major == map && number > max_object_keys) too_many_keys();
                return major == array ? number : 2 * number;
            default:
                fail("it uses a CBOR form that tapes do not");
        }
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    std::int64_t values_ = 0;
};

void check_size(std::string_view payload, TapeEncoding encoding) {
    if (encoding == TapeEncoding::json_lines) {
        check_json_size(payload);
    } else {
        CborCheck(payload).run();
    }
}

Framed find_cbor_record(std::string_view bytes) {
    const std::size_t seen = std::min(bytes.size(), sizeof(frame_start));
    if (std::memcmp(bytes.data(), frame_start, seen) != 0) return {Framed::State::damaged, {}};
    if (bytes.size() < frame_bytes) return {Framed::State::incomplete, {}};

    std::size_t length = 0;
    for (std::size_t i = sizeof(frame_start); i < frame_bytes; ++i) {
        length = length << 8 | static_cast<unsigned char>(bytes[i]);
    }
    if (length > static_cast<std::size_t>(max_record_bytes)) return {Framed::State::damaged, {}};
    if (bytes.size() - frame_bytes < length) return {Framed::State::incomplete, {}};
    return {Framed::State::whole, bytes.substr(frame_bytes, length), frame_bytes + length};
}

Framed find_json_record(std::string_view bytes, std::size_t searched) {
    if (bytes[0] != '{') return {Framed::State::damaged, {}};
    const std::string_view rest = bytes.substr(searched);
    const std::size_t newline = rest.find('\n');
    const bool hole = rest.substr(0, newline).find('\0') != rest.npos;  // as a crash may leave
    if (hole) return {Framed::State::damaged, {}};

    const std::size_t length = newline == rest.npos ? bytes.size() : searched + newline;
    if (length > static_cast<std::size_t>(max_record_bytes)) return {Framed::State::damaged, {}};
    if (newline == rest.npos) return {Framed::State::incomplete, {}};
    return {Framed::State::whole, bytes.substr(0, length), length + 1};
}

}  // namespace

TapeEncoding encoding_of(const std::string& path) {
    if (path.ends_with(".jsonl")) return TapeEncoding::json_lines;
    if (path.ends_with(".tape")) return TapeEncoding::cbor_sequence;
    fail("tape '", path, "': the name must end in .tape (compact) or .jsonl (readable text)");
}

std::string encode_record(const Json& record, TapeEncoding encoding) {
    std::string bytes;
    if (encoding == TapeEncoding::json_lines) {
        bytes = record.dump() + "\n";
    } else {
        bytes.assign(frame_bytes, '\0');
        Json::to_cbor(record, bytes);
        std::memcpy(bytes.data(), frame_start, sizeof(frame_start));
        std::size_t length = bytes.size() - frame_bytes;
        for (std::size_t i = frame_bytes; i > sizeof(frame_start); length >>= 8) {
            bytes[--i] = static_cast<char>(length & 0xff);
        }
    }
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (size > max_record_bytes) {
        fail(
            "one record of a tape holds at most ", max_record_bytes, " bytes, this one would have ",
            size,
            "; record it without the numbers of the rows, with fewer attention weights, or prefill "
            "in smaller chunks");
    }
    if (size > max_record_values) check_size(find_record(bytes, encoding).payload, encoding);
    return bytes;
}

Framed find_record(std::string_view bytes, TapeEncoding encoding, std::size_t searched) {
    if (bytes.empty()) return {Framed::State::incomplete, {}};
    return encoding == TapeEncoding::json_lines ? find_json_record(bytes, searched)
                                                : find_cbor_record(bytes);
}

Json decode_record(std::string_view payload, TapeEncoding encoding) {
    try {
        check_size(payload, encoding);
        return encoding == TapeEncoding::json_lines ? Json::parse(payload)
                                                    : Json::from_cbor(payload);
    } catch (const Json::parse_error& error) {
        fail("it is not valid ", encoding == TapeEncoding::json_lines ? "JSON" : "CBOR",
             " at its byte ", error.byte);
    } catch (const Json::exception&) {
        fail("it holds a number that is out of range");
    }
}

}  // namespace kvtape
