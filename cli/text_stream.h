// Tokens into text, as they come. A byte-level token may hold half of a character: its bytes are
// held back until the other half has come.
#pragma once

#include <string>
#include <string_view>

namespace kvtape {

class TextStream {
  public:
    // Adds the bytes of a token and returns the text that is complete now: always valid UTF-8, with
    // U+FFFD for what can be no character.
    std::string add(std::string_view bytes);

    // What was held back, as U+FFFD: no other half will come.
    std::string finish();

  private:
    std::string held_back_;
};

}  // namespace kvtape
