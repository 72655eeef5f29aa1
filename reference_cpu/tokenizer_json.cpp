#include "reference_cpu/tokenizer_json.h"

#include <optional>

#include "core/check.h"
#include "reference_cpu/json_input.h"

namespace kvtape {
namespace {

using nlohmann::json;

// The pattern of GPT-2, used where ByteLevel has no Split before it: contractions, then runs of
// letters, of digits and of anything else, each with the space before it.
constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The parts of a "Sequence", listed under `list_key`; any other type is the only part.
std::vector<JsonFields> sequence_parts(const JsonFields& whole, const std::string& list_key) {
    if (whole.string("type") != "Sequence") {
        return {whole};
    }
    std::vector<JsonFields> parts;
    for (const json& element : whole.array(list_key)) {
        parts.emplace_back(element, whole.where(), list_key + "[].");
    }
    return parts;
}

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

PreTokenizer read_pre_tokenizer(const JsonFields& file) {
    PreTokenizer result;
    bool complete = false;
    for (const JsonFields& part : sequence_parts(file.object("pre_tokenizer"), "pretokenizers")) {
        const std::string type = part.string("type");
        if (complete) {
            part.refuse("type", "nothing may follow ByteLevel, which turns the text into bytes");
        } else if (type == "Split") {
            add_split(part, result);
        } else if (type == "Digits") {
            const bool one_by_one = part.optional_bool("individual_digits").value_or(false);
            result.add_regex(one_by_one ? R"(\p{N})" : R"(\p{N}+)", part.where());
        } else if (type == "ByteLevel") {
            if (part.optional_bool("add_prefix_space").value_or(true)) {
                result.add_prefix_space();
            }
            if (part.optional_bool("use_regex").value_or(true)) {
                result.add_regex(gpt2_pattern, part.where());
            }
            complete = true;
        } else {
            part.refuse("type", "this pre_tokenizer is not supported");
        }
    }
    if (!complete) {
        fail(file.where(), ": pre_tokenizer has no ByteLevel; only byte-level BPE is supported");
    }
    return result;
}

// A template such as: <|begin_of_text|>, the text. Tokens after the text are refused, since the
// model is to go on from the text's last token.
std::vector<std::int32_t> ids_before_text(const JsonFields& processor, std::int64_t largest_id) {
    std::vector<std::int32_t> ids;
    bool text_seen = false;
    for (const json& element : processor.array("single")) {
        const JsonFields item(element, processor.where(), "single[].");
        if (item.has("Sequence") && !text_seen) {
            text_seen = true;
            continue;
        }
        const std::string name = item.object("SpecialToken").string("id");
        if (text_seen) {
            fail(processor.where(), ": post_processor puts ", in_quotes(name),
                 " after the text; only tokens before it are supported");
        }
        const JsonFields token = processor.object("special_tokens").object(name);
        for (const json& id : token.array("ids")) {
            const json one = {{"ids", id}};
            ids.push_back(static_cast<std::int32_t>(
                JsonFields(one, token.where()).integer("ids", 0, largest_id)));
        }
    }
    if (!text_seen) {
        fail(processor.where(), ": post_processor has a template without the text in it");
    }
    return ids;
}

std::vector<std::int32_t> read_post_processor(const JsonFields& file, std::int64_t largest_id) {
    const auto processor = file.optional_object("post_processor");
    if (!processor) {
        return {};
    }
    std::vector<std::int32_t> ids;
    for (const JsonFields& part : sequence_parts(*processor, "processors")) {
        const std::string type = part.string("type");
        if (type == "TemplateProcessing" && ids.empty()) {
            ids = ids_before_text(part, largest_id);
        } else if (type != "ByteLevel") {  // which changes offsets only
            part.refuse("type", "this post_processor is not supported");
        }
    }
    return ids;
}

}  // namespace

TokenizerParts parse_tokenizer_json(std::string_view text, const std::string& where) {
    const json parsed = parse_json_object(text, where);
    const JsonFields file(parsed, where);
    if (file.has("normalizer")) {
        file.refuse("normalizer", "text is never changed before encoding; only null is supported");
    }
    for (const char* option : {"truncation", "padding"}) {
        if (file.has(option)) {
            file.refuse(option, "ids are never cut off or filled up; only null is supported");
        }
    }
    const JsonFields decoder = file.object("decoder");
    if (decoder.string("type") != "ByteLevel") {
        decoder.refuse("type", "only byte-level BPE is supported");
    }

    TokenizerParts parts;
    parts.vocabulary = read_vocabulary(file);
    parts.pre_tokenizer = read_pre_tokenizer(file);
    const auto size = static_cast<std::int64_t>(parts.vocabulary.bytes_of_id.size());
    parts.ids_before_text = read_post_processor(file, size - 1);
    return parts;
}

}  // namespace kvtape
