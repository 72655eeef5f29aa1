#include "reference_cpu/tokenizer_json.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "reference_cpu/byte_level.h"
#include "reference_cpu/json_input.h"

namespace kvtape {
namespace {

using nlohmann::json;

// Cuts off contractions, then words, numbers and other runs with the space before them.
constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Calls visit(part) for `part` itself, or for each part of a "Sequence" of them (kept under
// `list_key`).
template <class Visit>
void for_each_in_sequence(const JsonFields& part, const char* list_key, const Visit& visit) {
    if (part.string("type") != "Sequence") {
        visit(part);
        return;
    }
    for (const json& element : part.array(list_key)) {
        visit(JsonFields(element, part.where(), std::string(list_key) + "[]."));
    }
}

// ---- pre_tokenizer ------------------------------------------------------------------------------

void add_split(const JsonFields& split, PreTokenizer& result) {
    if (split.string("behavior") != "Isolated") {
        split.refuse("behavior", "only 'Isolated' is supported");
    }
    if (split.optional_bool("invert").value_or(false)) {
        split.refuse("invert", "only false is supported");
    }
    const JsonFields pattern = split.object("pattern");
    if (pattern.has("Regex")) {
        result.add_regex(pattern.string("Regex"), split.where());
    } else {
        result.add_string(pattern.string("String"), split.where());
    }
}

void add_byte_level(const JsonFields& byte_level, PreTokenizer& result) {
    if (byte_level.optional_bool("add_prefix_space").value_or(true)) {
        result.add_prefix_space();
    }
    if (byte_level.optional_bool("use_regex").value_or(true)) {
        result.add_regex(gpt2_pattern, byte_level.where());
    }
}

PreTokenizer read_pre_tokenizer(const JsonFields& file) {
    PreTokenizer result;
    bool complete = false;  // ByteLevel comes last: after it, words are bytes and not text
    for_each_in_sequence(file.object("pre_tokenizer"), "pretokenizers", [&](const JsonFields& part) {
        const std::string type = part.string("type");
        if (complete) {
            part.refuse("type", "nothing may follow ByteLevel");
        } else if (type == "Split") {
            add_split(part, result);
        } else if (type == "Digits") {
            const bool one_by_one = part.optional_bool("individual_digits").value_or(false);
            result.add_regex(one_by_one ? R"(\p{N})" : R"(\p{N}+)", part.where());
        } else if (type == "ByteLevel") {
            add_byte_level(part, result);
            complete = true;
        } else {
            part.refuse("type", "this pre_tokenizer is not supported");
        }
    });
    if (!complete) {
        fail(file.where(), ": pre_tokenizer has no ByteLevel; only byte-level BPE is supported");
    }
    return result;
}

// ---- model and added_tokens ---------------------------------------------------------------------

// The id of every written piece, the added ones included: 0 .. n - 1, each exactly once.
struct Vocabulary {
    std::unordered_map<std::string, std::int32_t> id_of_bytes;  // pieces that BPE can reach
    std::vector<std::optional<std::string>> bytes_of_id;
    std::vector<AddedToken> added;

    void insert(std::int64_t id, const std::string& bytes, const std::string& where) {
        auto& place = bytes_of_id[static_cast<std::size_t>(id)];
        if (place) {
            fail(where, ": id ", id, " stands for both ", in_quotes(*place), " and ",
                 in_quotes(bytes));
        }
        place = bytes;
    }
};

AddedToken read_added_token(const JsonFields& token, std::int64_t largest_id) {
    for (const char* option : {"single_word", "lstrip", "rstrip"}) {
        if (token.optional_bool(option).value_or(false)) {
            token.refuse(option, "only false is supported");
        }
    }
    const bool special = token.optional_bool("special").value_or(false);
    AddedToken result;
    result.content = token.string("content");
    result.id = static_cast<std::int32_t>(token.integer("id", 0, largest_id));
    result.second_round = token.optional_bool("normalized").value_or(!special);
    if (result.content.empty()) {
        token.refuse("content", "an added token cannot be empty");
    }
    return result;
}

Vocabulary read_vocabulary(const JsonFields& file) {
    const std::string& where = file.where();
    const JsonFields model = file.object("model");
    const JsonFields written = model.object("vocab");
    static const json no_tokens = json::array();
    const json& added = file.has("added_tokens") ? file.array("added_tokens") : no_tokens;

    // Ids may not leave gaps, so their number is known from the number of pieces.
    const std::vector<std::string> pieces = written.keys();
    std::set<std::string> new_tokens;
    for (const json& element : added) {
        const std::string content = JsonFields(element, where, "added_tokens[].").string("content");
        if (!written.has(content.c_str())) {
            new_tokens.insert(content);
        }
    }
    const auto count = static_cast<std::int64_t>(pieces.size() + new_tokens.size());

    Vocabulary result;
    result.bytes_of_id.resize(static_cast<std::size_t>(count));
    for (const std::string& piece : pieces) {
        const std::int64_t id = written.integer(piece.c_str(), 0, count - 1);
        const auto bytes = byte_level_to_bytes(piece);
        result.insert(id, bytes.value_or(piece), where);
        if (bytes) {
            result.id_of_bytes.emplace(*bytes, static_cast<std::int32_t>(id));
        }
    }
    std::set<std::string> seen;
    for (const json& element : added) {
        const JsonFields fields(element, where, "added_tokens[].");
        AddedToken token = read_added_token(fields, count - 1);
        if (!seen.insert(token.content).second) {
            fields.refuse("content", "it was added before");
        }
        if (!written.has(token.content.c_str())) {
            result.insert(token.id, token.content, where);
        } else if (written.integer(token.content.c_str(), 0, count - 1) != token.id) {
            fields.refuse("id", "the vocabulary gives " + in_quotes(token.content) + " another id");
        }
        result.bytes_of_id[static_cast<std::size_t>(token.id)] = token.content;
        result.added.push_back(std::move(token));
    }
    return result;
}

}  // namespace
}  // namespace kvtape
