#include "reference_cpu/safetensors_write.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/check.h"

namespace kvtape {

std::string safetensors_bytes(const std::vector<NamedTensor>& tensors) {
    auto header = nlohmann::ordered_json::object();
    std::string data;
    for (const NamedTensor& tensor : tensors) {
        const auto elements = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                              std::int64_t{1}, std::multiplies<>());
        KVTAPE_CHECK(elements, ==, static_cast<std::int64_t>(tensor.values.size()));
        KVTAPE_CHECK(header.count(tensor.name), ==, std::size_t{0});
        const std::size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(tensor.values.data()),
                    tensor.values.size() * sizeof(float));
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    std::string header_text = header.dump();
    // Pad with spaces, so that the data starts at a multiple of 8 for readers that map it.
    header_text.resize((header_text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t header_bytes = header_text.size();
    std::string file(sizeof(header_bytes), '\0');
    std::memcpy(file.data(), &header_bytes, sizeof(header_bytes));
    return file + header_text + data;
}

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors) {
    const std::string bytes = safetensors_bytes(tensors);
    const std::string unfinished = path + ".unfinished";
    std::ofstream file(unfinished, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
        const int error = errno;
        std::remove(unfinished.c_str());
        fail(path, ": cannot be written: ", std::strerror(error));
    }
}

}  // namespace kvtape
