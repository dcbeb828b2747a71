#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "base/json_print.h"
#include "base/table.h"

namespace ridge {
namespace {

TEST(Format, Quantities) {
  EXPECT_EQ(format_quantity(1183.4, Unit::tokens_per_s), "1\u2009180 tok/s");
  EXPECT_EQ(format_quantity(82.34, Unit::tokens_per_s), "82.3 tok/s");
  EXPECT_EQ(format_quantity(171.2 * 1048576, Unit::bytes), "171 MiB");
  EXPECT_EQ(format_quantity(0, Unit::bytes), "0 B");
  EXPECT_EQ(format_quantity(1023, Unit::bytes), "1\u2009023 B");
  EXPECT_EQ(format_quantity(1536, Unit::bytes), "1.50 KiB");
  EXPECT_EQ(format_quantity(1023 * 1024, Unit::bytes), "1\u2009023 KiB");
  EXPECT_EQ(format_quantity(1023.9999 * 1024, Unit::bytes), "1.00 MiB");
  EXPECT_EQ(format_quantity(24.13e9, Unit::bytes_per_s), "24.1 GB/s");
  EXPECT_EQ(format_quantity(4.8e12, Unit::bytes_per_s), "4.80 TB/s");
  EXPECT_EQ(format_quantity(999.9e9, Unit::bytes_per_s), "1.00 TB/s");
  EXPECT_EQ(format_quantity(989e12, Unit::flop_per_s), "989 TFLOP/s");
  EXPECT_EQ(format_quantity(0.63, Unit::fraction), "63 %");
  EXPECT_EQ(format_quantity(0.9999, Unit::fraction), "100 %");
  EXPECT_EQ(format_quantity(0.063, Unit::fraction), "6.3 %");
  EXPECT_EQ(format_quantity(1.52, Unit::ratio), "1.52×");
  EXPECT_EQ(format_quantity(0.31, Unit::seconds), "0.31 s");
  EXPECT_EQ(format_quantity(12.345, Unit::seconds), "12.3 s");
  EXPECT_EQ(format_quantity(0.0042, Unit::seconds), "4.20 ms");
  EXPECT_EQ(format_quantity(17.04e-6, Unit::seconds), "17.0 µs");
  EXPECT_EQ(format_quantity(0.99996e-3, Unit::seconds), "1.00 ms");
  EXPECT_EQ(format_quantity(0, Unit::seconds), "0 s");
  EXPECT_EQ(format_quantity(std::numeric_limits<double>::quiet_NaN(), Unit::seconds), "–");
  EXPECT_EQ(format_quantity(std::numeric_limits<double>::infinity(), Unit::bytes), "∞");
  EXPECT_EQ(format_count(98362432), "98\u2009362\u2009432");
  EXPECT_EQ(format_count(-1234), "-1\u2009234");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()),
            "-9\u2009223\u2009372\u2009036\u2009854\u2009775\u2009808");
  EXPECT_EQ(format_significant(0.00012345), "0.000123");
  EXPECT_EQ(format_significant(9.999), "10.0");
  EXPECT_EQ(format_significant(1e-9), "1.00e-09");
}

TEST(Format, StrangersTextCannotCommandTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mred\n"), "a\\x1b[31mred\\x0a");
  EXPECT_EQ(printable("\xff\xfe ok"), "\uFFFD\uFFFD ok");
  EXPECT_EQ(printable("é \u009b"), "é \\x9b");
  EXPECT_EQ(printable("a\u202eb"), "a\\u202eb");
  EXPECT_EQ(display_width("1\u2009180 é日本"), 11);
}

Report sample() {
  Report r("sample");
  r.environment.add("ridge", "", "0.1.0");
  Section& s = r.section("cpu", "Processor");
  s.add("model", "model", "Some\x1b CPU").add("memory_bytes", "memory", std::int64_t(24) << 30, Unit::bytes);
  s.add("ids", "ids", std::vector<std::int64_t>{1, 2, 3}, Unit::none, Show::json_only);
  Table& t =
      r.table("rows", "Read",
              {{"name", "what"}, {"read_bytes_per_s", "read", Unit::bytes_per_s}, {"tokens", "tokens", Unit::count}});
  t.row({"日本", 24.13e9, 1180});
  t.row({"b", Cell(), 7});
  t.total = std::vector<Cell>{"all", Cell(), 1187};
  r.note("A note.");
  return r;
}

TEST(Report, Text) {
  EXPECT_EQ(text_of(sample()),
            "Processor\n"
            "  model   Some\\x1b CPU\n"
            "  memory  24.0 GiB\n"
            "\n"
            "Read\n"
            "  what       read  tokens\n"
            "  日本  24.1 GB/s   1\u2009180\n"
            "  b             –       7\n"
            "  ───────────────────────\n"
            "  all               1\u2009187\n"
            "\n"
            "A note.\n");
}

TEST(Report, Json) {
  const auto j = nlohmann::json::parse(json_of(sample()));
  EXPECT_EQ(j["schema_version"], 1);
  EXPECT_EQ(j["verb"], "sample");
  EXPECT_EQ(j["environment"]["ridge"], "0.1.0");
  EXPECT_EQ(j["cpu"]["model"], "Some\x1b CPU");
  EXPECT_EQ(j["cpu"]["memory_bytes"], std::int64_t(24) << 30);
  EXPECT_EQ(j["cpu"]["ids"], (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(j["rows"][0]["read_bytes_per_s"], 24.13e9);
  EXPECT_TRUE(j["rows"][1]["read_bytes_per_s"].is_null());
  EXPECT_EQ(j["rows_total"]["tokens"], 1187);
  EXPECT_EQ(j["notes"][0], "A note.");
}

TEST(Report, JsonOfOddValues) {
  Report r("odd");
  r.section("", "").add("nan", "", std::numeric_limits<double>::quiet_NaN()).add("bytes", "", "\xff");
  const auto j = nlohmann::json::parse(json_of(r));
  EXPECT_TRUE(j["nan"].is_null());
  EXPECT_EQ(j["bytes"], "\uFFFD");
  r.section("", "").add("nan", "", 1);
  EXPECT_THROW(json_of(r), Error);  // a key twice would lose a value
}

TEST(Report, ARowOfTheWrongLengthIsABug) {
  Report r("bad");
  r.table("t", "", {{"a", "a"}, {"b", "b"}}).row({1});
  EXPECT_THROW(text_of(r), Error);
  EXPECT_THROW(json_of(r), Error);
}

}  // namespace
}  // namespace ridge
