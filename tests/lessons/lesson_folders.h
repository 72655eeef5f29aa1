// The folders of the lessons, by their names alone: a new one is tested without being listed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

// lessons/NN_name, in order. Fails the test if there is none.
inline std::vector<std::filesystem::path> lesson_folders() {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(KVTAPE_SOURCE_DIR) + "/lessons")) {
        const std::string name = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) folders.push_back(entry.path());
    }
    EXPECT_FALSE(folders.empty());
    std::sort(folders.begin(), folders.end());
    return folders;
}
