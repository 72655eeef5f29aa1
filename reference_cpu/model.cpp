#include "reference_cpu/model.h"

#include <filesystem>

#include "core/check.h"

namespace kvtape {
namespace {

// Throws Error unless there is such a folder with the files that cannot be done without.
void check_model_folder(const std::string& directory) {
    constexpr const char* remedy =
        "a model is a folder with config.json, model.safetensors and tokenizer.json";
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory, ignored)) {
        fail("there is no model folder '", directory, "'; ", remedy);
    }
    for (const char* file : {"config.json", "model.safetensors"}) {
        if (std::filesystem::exists(directory + "/" + file, ignored)) continue;
        fail("the folder '", directory, "' has no ", file, "; ", remedy);
    }
}

}  // namespace

Model<float> load_model(const std::string& directory, std::optional<double> rope_theta,
                        const BetweenLayers& between_layers) {
    check_model_folder(directory);
    const ModelConfig config = load_config(directory + "/config.json", rope_theta);
    const SafetensorsFile file = SafetensorsFile::open(directory + "/model.safetensors");
    return Model<float>(config, load_weights(file, config, between_layers), between_layers);
}

}  // namespace kvtape
