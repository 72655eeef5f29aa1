// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace kvtape {

// 1234567 as "1,234,567".
std::string with_commas(std::int64_t value);

// "1 token", "12 tokens".
std::string counted(std::int64_t count, const std::string& noun);

// "%.<digits>f".
std::string decimal(double value, int digits);

// "1.23 s", "4.56 ms" or "7.8 us".
std::string duration(double seconds);

}  // namespace kvtape
