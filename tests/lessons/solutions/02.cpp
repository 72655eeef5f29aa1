#include <cstdint>

namespace kvtape::exercise {

std::int64_t visible_keys(std::int64_t cached, std::int64_t i) {
    return cached + i + 1;
}

}  // namespace kvtape::exercise
