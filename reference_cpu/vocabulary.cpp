#include "reference_cpu/vocabulary.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "reference_cpu/byte_level.h"

namespace kvtape {
namespace {

using nlohmann::json;

using IdOfBytes = std::unordered_map<std::string, std::int32_t>;

// Options of the BPE model under which the same merges would give other ids.
void refuse_other_models(const JsonFields& model) {
    // Old files do not name the type.
    if (model.optional_string("type").value_or("BPE") != "BPE") {
        model.refuse("type", "only byte-level 'BPE' is supported");
    }
    if (model.has("dropout") && model.optional_number("dropout") != 0.0) {
        model.refuse("dropout", "encoding by chance is not supported");
    }
    if (model.optional_bool("byte_fallback").value_or(false)) {
        model.refuse("byte_fallback", "only byte-level BPE is supported");
    }
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (!model.optional_string(affix).value_or("").empty()) {
            model.refuse(affix, "pieces marked by their place in the word are not supported");
        }
    }
}

// The places of the ids 0 .. count - 1, which the pieces of the file fill.
class Ids {
  public:
    Ids(std::size_t count, const std::string& where) : places_(count), where_(where) {}

    std::int64_t largest() const { return static_cast<std::int64_t>(places_.size()) - 1; }

    void insert(std::int64_t id, std::string bytes) {
        auto& place = places_[static_cast<std::size_t>(id)];
        if (place) {
            fail(where_, ": id ", id, " stands for both ", in_quotes(*place), " and ",
                 in_quotes(bytes));
        }
        place = std::move(bytes);
    }

    // As many pieces as places were inserted, each into its own place: none is empty.
    std::vector<std::string> finish() {
        std::vector<std::string> bytes_of_id;
        for (auto& place : places_) {
            bytes_of_id.push_back(std::move(place.value()));
        }
        return bytes_of_id;
    }

  private:
    std::vector<std::optional<std::string>> places_;
    const std::string& where_;
};

IdOfBytes read_pieces(const JsonFields& vocab, Ids& ids) {
    IdOfBytes id_of_bytes;
    for (const std::string& piece : vocab.keys()) {
        const auto id = static_cast<std::int32_t>(vocab.integer(piece, 0, ids.largest()));
        if (const auto bytes = byte_level_to_bytes(piece)) {
            ids.insert(id, *bytes);
            id_of_bytes.emplace(*bytes, id);
        } else {
            ids.insert(id, piece);  // ordinary text, which BPE cannot reach
        }
    }
    return id_of_bytes;
}

// "a b" or ["a", "b"], in the byte-level alphabet.
std::pair<std::string, std::string> merge_parts(const json& element, const std::string& where) {
    std::string left, right;
    if (element.is_array() && element.size() == 2 && element[0].is_string() &&
        element[1].is_string()) {
        left = element[0].get<std::string>();
        right = element[1].get<std::string>();
    } else if (element.is_string()) {
        const auto text = element.get<std::string>();
        const std::size_t space = text.find(' ');
        left = text.substr(0, space);
        right = space == std::string::npos ? "" : text.substr(space + 1);
    } else {
        fail(where, ": merges holds ", shown(element), "; expected two pieces");
    }
    const auto left_bytes = byte_level_to_bytes(left);
    const auto right_bytes = byte_level_to_bytes(right);
    if (!left_bytes || !right_bytes || left.empty() || right.empty()) {
        fail(where, ": the merge of ", in_quotes(left), " and ", in_quotes(right),
             " is not one of two byte-level pieces");
    }
    return {*left_bytes, *right_bytes};
}

std::vector<Merge> read_merges(const JsonFields& model, const IdOfBytes& id_of_bytes) {
    const auto id_of = [&](const std::string& bytes) {
        const auto found = id_of_bytes.find(bytes);
        if (found == id_of_bytes.end()) {
            fail(model.where(), ": a merge needs the piece ", in_quotes(bytes_to_byte_level(bytes)),
                 ", which is not in the vocabulary");
        }
        return found->second;
    };
    std::vector<Merge> merges;
    std::set<std::pair<std::int32_t, std::int32_t>> seen;
    for (const json& element : model.array("merges")) {
        const auto [left, right] = merge_parts(element, model.where());
        merges.push_back({id_of(left), id_of(right), id_of(left + right)});
        if (!seen.emplace(merges.back().left, merges.back().right).second) {
            fail(model.where(), ": the merge of ", in_quotes(bytes_to_byte_level(left)), " and ",
                 in_quotes(bytes_to_byte_level(right)), " is listed twice");
        }
    }
    return merges;
}

AddedToken read_added_token(const JsonFields& fields, std::int64_t largest_id) {
    for (const char* option : {"single_word", "lstrip", "rstrip"}) {
        if (fields.optional_bool(option).value_or(false)) {
            fields.refuse(option, "only false is supported");
        }
    }
    const bool special = fields.optional_bool("special").value_or(false);
    AddedToken token;
    token.content = fields.string("content");
    token.id = static_cast<std::int32_t>(fields.integer("id", 0, largest_id));
    token.second_round = fields.optional_bool("normalized").value_or(!special);
    return token;
}

std::vector<JsonFields> added_token_fields(const JsonFields& file) {
    std::vector<JsonFields> tokens;
    if (file.has("added_tokens")) {
        for (const json& element : file.array("added_tokens")) {
            tokens.emplace_back(element, file.where(), "added_tokens[].");
        }
    }
    return tokens;
}

}  // namespace

Vocabulary read_vocabulary(const JsonFields& file) {
    const JsonFields model = file.object("model");
    refuse_other_models(model);
    const JsonFields vocab = model.object("vocab");
    const std::vector<JsonFields> added_fields = added_token_fields(file);

    // Count the ids: an added token may or may not be in the vocabulary as well.
    std::set<std::string> contents;
    std::size_t count = vocab.keys().size();
    for (const JsonFields& fields : added_fields) {
        const std::string content = fields.string("content");
        if (content.empty() || !contents.insert(content).second) {
            fields.refuse("content", "an added token must not be empty or added twice");
        }
        count += vocab.has(content) ? 0 : 1;
    }

    Ids ids(count, file.where());
    const IdOfBytes id_of_bytes = read_pieces(vocab, ids);
    std::vector<AddedToken> added;
    for (const JsonFields& fields : added_fields) {
        const AddedToken& token = added.emplace_back(read_added_token(fields, ids.largest()));
        if (!vocab.has(token.content)) {
            ids.insert(token.id, token.content);
        } else if (vocab.integer(token.content, 0, ids.largest()) != token.id) {
            fields.refuse("id", "the vocabulary gives " + in_quotes(token.content) + " another id");
        } else if (byte_level_to_bytes(token.content).value_or(token.content) != token.content) {
            // The id of "é", say, would stand for these two bytes and for the byte E9.
            fields.refuse("content", "in the vocabulary, this spells other bytes");
        }
    }

    Vocabulary result;
    result.bpe = Bpe(id_of_bytes, read_merges(model, id_of_bytes),
                     model.optional_bool("ignore_merges").value_or(false));
    result.bytes_of_id = ids.finish();
    result.added_tokens = AddedTokens(std::move(added));
    return result;
}

}  // namespace kvtape
