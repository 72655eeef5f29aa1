#include "cli/footprint_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/units.h"
#include "core/check.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

constexpr std::int64_t most_numbers_per_token = std::int64_t{1} << 40;

Json json_bytes(std::int64_t bytes) {
    const auto value = static_cast<double>(bytes);
    return {{"bytes", bytes}, {"gb", value / bytes_per_gb}, {"gib", value / bytes_per_gib}};
}

std::string line(std::string label, const std::string& value) {
    label.resize(std::max<std::size_t>(label.size() + 2, 22), ' ');
    return label + value + "\n";
}

}  // namespace

std::int64_t Footprint::per_token(const KvFootprintInput& sizes, KvDtype dtype) {
    const std::int64_t numbers =
        checked_product(checked_product(sizes.layers, sizes.kv_heads, "rows per token"),
                        sizes.head_dim, "numbers per token");
    if (numbers > most_numbers_per_token) {
        fail("a token of ", sizes.layers, " layers, ", sizes.kv_heads, " KV heads and head_dim ",
             sizes.head_dim, " has ", numbers, " numbers, more than any model; check the sizes");
    }
    ModelShape shape;
    shape.layers = sizes.layers;
    shape.kv_heads = sizes.kv_heads;
    shape.head_dim = sizes.head_dim;
    return kv_bytes_per_token(shape, dtype);
}

std::int64_t Footprint::bytes_per_block() const {
    return checked_product(bytes_per_token, block_size.value_or(1), "bytes per block");
}

std::int64_t Footprint::blocks_per_sequence() const {
    return ceil_div(tokens.value_or(0), block_size.value_or(1));
}

std::int64_t Footprint::bytes_per_sequence() const {
    return checked_product(bytes_per_block(), blocks_per_sequence(), "bytes per sequence");
}

std::int64_t Footprint::bytes_read_by_a_step() const {
    return checked_product(bytes_per_token, tokens.value_or(0), "bytes read");
}

std::string Footprint::text() const {
    std::string text;
    if (sizes.heads > 0) {
        text += line("heads", with_commas(sizes.heads) + " query heads, " +
                                  with_commas(sizes.kv_heads) +
                                  " KV heads: each KV head serves a group of " +
                                  with_commas(sizes.group_size()));
    }
    text += line("per token", "2 (K and V) x " + std::to_string(sizes.layers) + " layers x " +
                                  std::to_string(sizes.kv_heads) + " KV heads x " +
                                  std::to_string(sizes.head_dim) + " numbers x " +
                                  std::to_string(bytes_per_element(dtype)) + " bytes (" +
                                  name(dtype) + ")");
    text += line("", "= " + bytes_in_units(bytes_per_token));
    if (block_size) {
        text += line("per block",
                     with_commas(*block_size) + " tokens: " + bytes_in_units(bytes_per_block()));
    }
    if (capacity) {
        text += line("fits", (block_size ? with_commas(capacity->blocks) + " blocks, " : "") +
                                 with_commas(capacity->tokens) + " tokens; " +
                                 with_commas(capacity->bytes_unused) + " bytes stay unused");
        text += line("longest", longest_sequence(*capacity));
    }
    if (!tokens) return text;

    const std::int64_t held = bytes_per_sequence();
    const std::int64_t read = bytes_read_by_a_step();
    text += line("per sequence",
                 with_commas(*tokens) + " tokens" +
                     (block_size ? " in " + with_commas(blocks_per_sequence()) + " blocks" : "") +
                     ": " + bytes_in_units(held));
    if (sequences > 1) {
        text += line("all sequences",
                     with_commas(sequences) + ": " +
                         bytes_in_units(checked_product(held, sequences, "bytes in all")));
    }
    text += line("a decode step there",
                 "reads " + bytes_in_units(read) +
                     (held != read ? " (" + with_commas(held) + " as whole blocks)" : ""));
    text += line("", "writes " + bytes_in_units(bytes_per_token));
    return text;
}

Json Footprint::json() const {
    Json json = {{"layers", sizes.layers},
                 {"kv_heads", sizes.kv_heads},
                 {"head_dim", sizes.head_dim},
                 {"kv_cache_dtype", name(dtype)},
                 {"bytes_per_element", bytes_per_element(dtype)},
                 {"per_token", json_bytes(bytes_per_token)}};
    if (sizes.heads > 0) {
        json["heads"] = sizes.heads;
        json["group_size"] = sizes.group_size();
    }
    if (block_size) {
        json["block_size"] = *block_size;
        json["per_block"] = json_bytes(bytes_per_block());
    }
    if (capacity) {
        json["fits"] = {{"tokens", capacity->tokens}, {"bytes_unused", capacity->bytes_unused}};
        if (block_size) json["fits"]["blocks"] = capacity->blocks;
    }
    if (tokens) {
        json["tokens"] = *tokens;
        json["sequences"] = sequences;
        json["per_sequence"] = json_bytes(bytes_per_sequence());
        json["all_sequences"] =
            json_bytes(checked_product(bytes_per_sequence(), sequences, "bytes in all"));
        json["decode_step"] = {{"kv_bytes_read", bytes_read_by_a_step()},
                               {"kv_bytes_read_as_whole_blocks", bytes_per_sequence()},
                               {"kv_bytes_written", bytes_per_token}};
    }
    return json;
}

}  // namespace kvtape
