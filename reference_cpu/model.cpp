#include "reference_cpu/model.h"

namespace kvtape {

Model<float> load_model(const std::string& directory, std::optional<double> rope_theta) {
    const ModelConfig config = load_config(directory + "/config.json", rope_theta);
    const SafetensorsFile file = SafetensorsFile::open(directory + "/model.safetensors");
    return Model<float>(config, load_weights(file, config));
}

}  // namespace kvtape
