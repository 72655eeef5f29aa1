// A tokenizer.json small enough to know by heart: the id of a byte is the byte itself, id 256 + i
// is the result of merge i, and after the merges come the added tokens.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reference_cpu/byte_level.h"
#include "reference_cpu/tokenizer.h"

namespace kvtape {

using MergeList = std::vector<std::pair<std::string, std::string>>;  // as bytes

// The pre_tokenizer cuts nothing: a word is everything up to an added token.
inline nlohmann::json byte_tokenizer_json(const MergeList& merges = {},
                                          const std::vector<std::string>& added = {}) {
    using nlohmann::json;
    json vocab = json::object();
    json pairs = json::array();
    json tokens = json::array();
    for (int byte = 0; byte < 256; ++byte) {
        vocab[bytes_to_byte_level(std::string(1, static_cast<char>(byte)))] = byte;
    }
    int id = 256;
    for (const auto& [left, right] : merges) {
        vocab[bytes_to_byte_level(left + right)] = id++;
        pairs.push_back({bytes_to_byte_level(left), bytes_to_byte_level(right)});
    }
    for (const std::string& content : added) {
        tokens.push_back({{"id", id++}, {"content", content}, {"special", true}});
    }
    const json byte_level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    return {{"added_tokens", tokens},
            {"normalizer", nullptr},
            {"pre_tokenizer", byte_level},
            {"post_processor", nullptr},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", pairs}}}};
}

inline Tokenizer parse_tokenizer(const nlohmann::json& file) {
    return Tokenizer::parse(file.dump(), "tokenizer.json");
}

}  // namespace kvtape
