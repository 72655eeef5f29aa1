// Any bytes as a safetensors file: either refused with an Error, or every tensor in it can be
// loaded or is refused by name.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/check.h"
#include "reference_cpu/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto file =
            kvtape::SafetensorsFile::parse(std::as_bytes(std::span(data, size)), "fuzz");
        for (const std::string& name : file.names()) {
            try {
                file.load_f32(name, file.find(name).shape);
            } catch (const kvtape::Error&) {
            }
        }
    } catch (const kvtape::Error&) {
    }
    return 0;
}
