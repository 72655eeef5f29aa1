// The message of the Error that a call must throw.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/check.h"

namespace kvtape {

// Fails the test if the call throws nothing, or a message that is not one line. Any other exception
// passes through and fails the test as well.
template <class Call>
std::string error_text(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        return text;
    }
    ADD_FAILURE() << "no Error was thrown";
    return "";
}

}  // namespace kvtape
