#include "core/shape.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/check.h"

namespace kvtape {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ModelShape shape_with_heads(std::int64_t heads, std::int64_t kv_heads) {
    return {.layers = 2,
            .hidden = 16,
            .heads = heads,
            .kv_heads = kv_heads,
            .head_dim = 4,
            .ffn = 32,
            .vocab = 32};
}

std::string refusal(const ModelShape& shape) {
    try {
        validate(shape);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

// PC-MM-08
TEST(Shape, KvHeadsMustDivideHeads) {
    const ModelShape grouped = shape_with_heads(32, 8);
    EXPECT_EQ(refusal(grouped), "accepted");
    EXPECT_EQ(grouped.group_size(), 4);
    const struct { std::int64_t heads, kv_heads; } refused[] = {{7, 2}, {3, 2}, {4, 0}, {2, 4}};
    for (const auto& [heads, kv_heads] : refused) {
        EXPECT_THAT(refusal(shape_with_heads(heads, kv_heads)),
                    AllOf(HasSubstr(std::to_string(heads) + " query heads"),
                          HasSubstr(std::to_string(kv_heads) + " KV heads")));
    }
}

TEST(Shape, EverySizeMustBePositiveAndSane) {
    std::int64_t ModelShape::*const sizes[] = {
        &ModelShape::layers,   &ModelShape::hidden, &ModelShape::heads, &ModelShape::kv_heads,
        &ModelShape::head_dim, &ModelShape::ffn,    &ModelShape::vocab};
    for (const auto size : sizes) {
        for (const std::int64_t value :
             {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
              std::numeric_limits<std::int64_t>::max()}) {
            ModelShape shape = shape_with_heads(4, 2);
            shape.*size = value;
            EXPECT_THAT(refusal(shape), HasSubstr(std::to_string(value)));
        }
    }
}

TEST(Shape, HeadDimIsFreeButEven) {
    ModelShape shape = shape_with_heads(4, 2);
    shape.head_dim = 6;  // not hidden / heads
    EXPECT_EQ(refusal(shape), "accepted");
    shape.head_dim = 5;
    EXPECT_THAT(refusal(shape), HasSubstr("head_dim is 5"));
}

}  // namespace
}  // namespace kvtape
