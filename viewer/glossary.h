// The words and abbreviations of the field in a sentence each, for whoever hovers them.
#pragma once

#include <string_view>

namespace kvtape {

// Null if the word is not in the glossary.
const char* explanation(std::string_view word);

}  // namespace kvtape
