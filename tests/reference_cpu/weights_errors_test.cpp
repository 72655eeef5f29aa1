// Whatever is wrong with the weights, the line begins with the file they are in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference_cpu/safetensors_write.h"
#include "reference_cpu/weights.h"
#include "support/error_text.h"
#include "support/tiny_model_files.h"

namespace kvtape {
namespace {

std::string refusal(const std::vector<NamedTensor>& tensors, bool tied) {
    const std::string bytes = safetensors_bytes(tensors);
    const auto file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "my/model.file");
    return error_text([&] { load_weights(file, config_of(tiny_llama, 64, tied)); });
}

TEST(WeightsErrors, NameTheFile) {
    const auto complete = tensors_of(tiny_llama, tiny_weights(tiny_llama));
    auto missing = complete, another = complete, wider = complete, headless = complete;
    missing.erase(missing.begin() + 3);
    another.push_back({"bias", {1}, {0}});
    wider[0] = {wider[0].name, {1}, {0}};
    headless.pop_back();
    for (const auto& [error, why] : {std::pair{refusal(missing, false), "q_proj"},
                                     {refusal(another, false), "'bias' belongs"},
                                     {refusal(wider, false), "embed_tokens"},
                                     {refusal(headless, false), "has no lm_head"},
                                     {refusal(complete, true), "differs from"}}) {
        EXPECT_THAT(error, testing::StartsWith("my/model.file: "));
        EXPECT_THAT(error, testing::HasSubstr(why));
    }
}

}  // namespace
}  // namespace kvtape
