// tokenizer.json, the file format of the Hugging Face `tokenizers` library, as far as it describes
// byte-level BPE. What would change the ids and is not done here is refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference_cpu/pre_tokenizer.h"
#include "reference_cpu/vocabulary.h"

namespace kvtape {

struct TokenizerParts {
    Vocabulary vocabulary;
    PreTokenizer pre_tokenizer;
    std::vector<std::int32_t> ids_before_text;  // usually none, or the bos token
};

TokenizerParts parse_tokenizer_json(std::string_view text, const std::string& where);

}  // namespace kvtape
