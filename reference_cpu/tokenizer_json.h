// tokenizer.json, the file format of the Hugging Face `tokenizers` library, as far as it describes
// byte-level BPE. What would change the ids and is not done here is refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference_cpu/added_tokens.h"
#include "reference_cpu/bpe.h"
#include "reference_cpu/pre_tokenizer.h"

namespace kvtape {

struct TokenizerParts {
    std::vector<std::string> bytes_of_id;
    AddedTokens added_tokens;
    PreTokenizer pre_tokenizer;
    Bpe bpe;
    std::vector<std::int32_t> ids_before_text;  // usually none or the bos token
};

TokenizerParts parse_tokenizer_json(std::string_view text, const std::string& where);

}  // namespace kvtape
