#include "io/json_bounded.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

std::string refusal(const std::string& text, const JsonLimits& limits = {}) {
  return error_of([&] { parse_json(text, "f.json", limits); });
}

TEST(json_bounded, reads_what_nlohmann_reads) {
  for (const char* text :
       {R"({"z":1,"a":[1,-2,3.5,true,null,"x\u00e9\n",{},[]],"b":{"c":{"d":[[1],[2,{"e":"f"}]]}}})", "[]", "7", "\"s\"",
        "null", R"({"big":18446744073709551615,"small":-9223372036854775808,"float":1e300})", " [1 , 2 ] "})
    EXPECT_EQ(parse_json(text, "f").dump(), nlohmann::ordered_json::parse(text).dump());
}

TEST(json_bounded, errors_say_where) {
  EXPECT_HAS(refusal(R"({"a": tru})"), "f.json: at byte 10: is not JSON: parse error at line 1, column 10");
  EXPECT_HAS(refusal(""), "f.json: at byte 0: is not JSON");
  EXPECT_HAS(refusal("[1] 2"), "at byte 5");
  EXPECT_HAS(refusal("\"\xff\""), "at byte 2: is not JSON");
  EXPECT_HAS(refusal("[1e999]"), "is not JSON");
  EXPECT_LT(refusal("[\"" + std::string(1 << 20, 'a')).size(), 600u);  // the message does not repeat the file
}

TEST(json_bounded, limits) {
  EXPECT_HAS(refusal(std::string(1000000, '['), {}), "at byte 65: is nested more than 64 deep");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_HAS(refusal(objects), "is nested more than 64 deep");
  EXPECT_HAS(refusal("[1,2,3,4,5]", {.values = 5}), "has more than 5 values");
  EXPECT_HAS(refusal("[1,2,3,4,5]", {.bytes = 5}), "has 11 bytes of JSON; 5 is the most");
  EXPECT_EQ(parse_json(std::string(64, '[') + std::string(64, ']'), "f").size(), 1u);
}

TEST(json_bounded, keys_that_are_there_twice) {
  EXPECT_HAS(refusal(R"({"x":{"a":1,"b":2,"a":3}})"),
             "f.json: at byte 24: the object that ends here has the key 'a' twice");
  EXPECT_HAS(refusal(R"({"a":1,"\u0061":3})"), "has the key 'a' twice");
  EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":3,"a":4,"c":5})", "f", {.duplicates = DuplicateKeys::keep_last}).dump(),
            R"({"b":2,"a":4,"c":5})");
}

TEST(json_bounded, a_large_object_takes_no_square_of_its_size) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += fmt::format("{}\"token{}\":{}", i ? "," : "", i, i);
  text += "}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text, "f").size(), 200000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));  // the square would take minutes
}

TEST(json_bounded, files) {
  TempFolder folder;
  write_bytes(folder / "f.json", "{\"a\":[1,2]}");
  EXPECT_EQ(read_json(folder / "f.json")["a"].size(), 2u);
  EXPECT_HAS(error_of([&] { read_json(folder / "f.json", {.bytes = 3}); }),
             "f.json: has 11 bytes of JSON; 3 is the most");
}

}  // namespace
}  // namespace ridge::io
