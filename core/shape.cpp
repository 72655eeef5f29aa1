#include "core/shape.h"

#include "core/check.h"

namespace kvtape {

void validate(const ModelShape& shape) {
    if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
        fail("model shape: ", shape.heads, " query heads cannot share ", shape.kv_heads,
             " KV heads evenly; heads must be a multiple of kv_heads");
    }
    const struct {
        const char* name;
        std::int64_t value;
    } sizes[] = {{"layers", shape.layers},     {"hidden", shape.hidden},     {"heads", shape.heads},
                 {"kv_heads", shape.kv_heads}, {"head_dim", shape.head_dim}, {"ffn", shape.ffn},
                 {"vocab", shape.vocab}};
    constexpr std::int64_t largest = std::int64_t{1} << 24;
    for (const auto& size : sizes) {
        if (size.value < 1 || size.value > largest) {
            fail("model shape: ", size.name, " is ", size.value, "; it must be between 1 and ",
                 largest);
        }
    }
    if (shape.head_dim % 2 != 0) {
        fail("model shape: head_dim is ", shape.head_dim,
             "; it must be even, because RoPE turns pairs of components");
    }
}

}  // namespace kvtape
