// The shipped tokenizer gives the ids that the Hugging Face `tokenizers` library gave for a list of
// strings, which is kept beside the model (models/golden/).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reference_cpu/tokenizer.h"

namespace kvtape {
namespace {

TEST(TokenizerGolden, EqualIdsForEveryString) {
    const std::string models = std::string(KVTAPE_SOURCE_DIR) + "/models/";
    std::ifstream file(models + "golden/tokenizer.json");
    ASSERT_TRUE(file) << "models/golden/tokenizer.json is missing";
    const auto cases = nlohmann::json::parse(file).at("cases");
    ASSERT_GE(cases.size(), 50u);

    const Tokenizer tokenizer = Tokenizer::load(models + "storyteller/tokenizer.json");
    for (const auto& golden : cases) {
        const auto text = golden.at("text").get<std::string>();
        const auto ids = golden.at("ids").get<std::vector<std::int32_t>>();
        EXPECT_EQ(tokenizer.encode(text), ids) << golden.at("text");
        EXPECT_EQ(tokenizer.decode(ids), text) << golden.at("text");
    }
}

}  // namespace
}  // namespace kvtape
