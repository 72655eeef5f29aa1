// Exercise 2. The mask of a chunk.
#include <cstdint>

namespace kvtape::exercise {

// The cache holds `cached` positions; a chunk of new tokens follows them. How many keys does the
// i-th token of the chunk see (i = 0, 1, ...), itself included?
//
// Several engines once cut the mask from the top left corner, as if the chunk stood alone. That
// gives i + 1, which is right only when nothing is cached.
std::int64_t visible_keys(std::int64_t cached, std::int64_t i) {
    (void)cached;
    return i + 1;
}

}  // namespace kvtape::exercise
