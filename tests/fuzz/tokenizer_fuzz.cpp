// The input is a text, a zero byte, and a tokenizer.json. Whatever the file says, either it is
// refused with an Error, or the text is encoded to ids that all have bytes, or the text is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "reference_cpu/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::string_view text = input.substr(0, input.find('\0'));
    const std::string_view file = input.substr(std::min(text.size() + 1, input.size()));
    try {
        const kvtape::Tokenizer tokenizer = kvtape::Tokenizer::parse(file, "fuzz");
        tokenizer.decode(tokenizer.encode(text));
    } catch (const kvtape::Error&) {
    }
    return 0;
}
