// The pieces of a tokenizer.json: "model" (vocab and merges) and "added_tokens".
//
// Ids must be 0 .. n - 1, each exactly once, so that every id up to vocab_size() can be turned back
// into bytes and nothing is ever allocated from a number in the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference_cpu/added_tokens.h"
#include "reference_cpu/bpe.h"
#include "reference_cpu/json_input.h"

namespace kvtape {

struct Vocabulary {
    std::vector<std::string> bytes_of_id;
    AddedTokens added_tokens;
    Bpe bpe;
};

// `file` is the whole tokenizer.json.
Vocabulary read_vocabulary(const JsonFields& file);

}  // namespace kvtape
