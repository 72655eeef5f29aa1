// Any text as a config.json: either refused with an Error, or the sizes read from it are usable.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "reference_cpu/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        validate(kvtape::parse_config(text, "fuzz").shape);
    } catch (const kvtape::Error&) {
    }
    try {
        KVTAPE_CHECK(kvtape::parse_footprint_config(text, "fuzz").group_size(), >=, 1);
    } catch (const kvtape::Error&) {
    }
    return 0;
}
