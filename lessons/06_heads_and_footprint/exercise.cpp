// Exercise 6. How long may the chats become?
#include "core/kv_dtype.h"
#include "core/shape.h"

namespace kvtape::exercise {

// `budget_bytes` of memory are left for the cache, and `sequences` users chat at the same time. How
// many tokens can each of them have, if all have the same number? Whole tokens only.
std::int64_t tokens_per_sequence(const ModelShape& shape, KvDtype dtype, std::int64_t budget_bytes,
                                 std::int64_t sequences) {
    (void)shape;
    (void)dtype;
    (void)budget_bytes;
    (void)sequences;
    return 0;  // bytes_per_element(dtype) tells the bytes of one number
}

}  // namespace kvtape::exercise
