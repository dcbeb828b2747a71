#include "io/template_json.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridge::io {
namespace {

using text::Value;
using text::ValueKind;

TEST(TemplateJson, there_and_back) {
  std::string json = R"({"b":1,"a":[true,null,2.5,"é\n",{}],"c":-9223372036854775808})";
  EXPECT_EQ(template_value_to_json(template_value_from_json(json, "t")), json);
}

TEST(TemplateJson, integers_beyond_64_bits_become_floats) {
  EXPECT_EQ(template_value_from_json("9223372036854775807", "t").as_integer(), INT64_MAX);
  Value big = template_value_from_json("9223372036854775808", "t");
  ASSERT_TRUE(big.is(ValueKind::real));
  EXPECT_EQ(big.as_real(), 9223372036854775808.0);
}

TEST(TemplateJson, a_key_named_twice_keeps_its_place_and_takes_the_last_value) {
  EXPECT_EQ(template_value_to_json(template_value_from_json(R"({"a":1,"b":2,"a":3})", "t")), R"({"a":3,"b":2})");
}

TEST(TemplateJson, refuses_what_is_not_json_and_hostile_depth) {
  for (const char* json : {"", "{", "[1,]", "{\"a\"}", "1 2", "nul", "\"\xff\"", "\"\\ud800\""})
    EXPECT_THROW(template_value_from_json(json, "t"), Error) << json;
  std::string deep(1'000'000, '[');
  EXPECT_THROW(template_value_from_json(deep, "t"), Error);
  EXPECT_NO_THROW(template_value_from_json(std::string(150, '[') + std::string(150, ']'), "t"));
}

}  // namespace
}  // namespace ridge::io
