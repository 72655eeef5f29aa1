#include "core/kv_dtype.h"

#include <gmock/gmock.h>

#include <string>

#include "core/check.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

std::string refusal(const char* text) {
    try {
        parse_kv_dtype(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(KvDtype, EveryNameParsesToItself) {
    for (const KvDtype dtype : all_kv_dtypes) EXPECT_EQ(parse_kv_dtype(name(dtype)), dtype);
    EXPECT_EQ(parse_kv_dtype("fp8"), KvDtype::fp8_e4m3);
}

TEST(KvDtype, UnknownNamesAreRefusedWithTheList) {
    for (const char* text : {"", "F16", "f16 ", "int8", "auto"}) {
        EXPECT_THAT(refusal(text), HasSubstr(std::string("'") + text + "'"));
        EXPECT_THAT(refusal(text), HasSubstr("f32, f16, bf16, fp8_e4m3, fp8_e5m2"));
    }
}

// PC-FP-07
TEST(KvDtype, FnuzIsRefusedByName) {
    EXPECT_THAT(refusal("float8_e4m3fnuz"), HasSubstr("fnuz type"));
    EXPECT_THAT(refusal("fp8_e5m2fnuz"), HasSubstr("fp8_e4m3"));
}

TEST(KvDtype, BytesPerElement) {
    EXPECT_EQ(bytes_per_element(KvDtype::f32), 4);
    EXPECT_EQ(bytes_per_element(KvDtype::f16), 2);
    EXPECT_EQ(bytes_per_element(KvDtype::bf16), 2);
    EXPECT_EQ(bytes_per_element(KvDtype::fp8_e4m3), 1);
    EXPECT_EQ(bytes_per_element(KvDtype::fp8_e5m2), 1);
}

}  // namespace
}  // namespace kvtape
