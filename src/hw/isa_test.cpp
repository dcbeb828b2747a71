#include "hw/isa.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <fstream>
#include <iterator>

#include "base/error.h"

namespace ridge::hw {
namespace {

struct RestoreForbidden {
  RestoreForbidden() {
    for (const std::string& name : forbidden()) before += name + ",";
  }
  ~RestoreForbidden() { set_forbidden(before); }
  std::string before;
};

constexpr Isa everything = {true, true, true, true, true, true, true, true, true, true};

TEST(Isa, ForbiddingTakesWhatBuildsOnIt) {
  EXPECT_EQ(without(everything, "avx2"), Isa{});
  EXPECT_EQ(without(everything, "avx2").text(), "scalar");
  EXPECT_EQ(without(everything, "avx512").text(), "avx2 fma f16c avx_vnni");
  EXPECT_EQ(without(everything, "vnni").text(), "avx2 fma f16c avx512 avx512_bf16 avx512_fp16 amx_int8 amx_bf16");
  EXPECT_EQ(without(everything, "avx_vnni").text(),
            "avx2 fma f16c avx512 vnni avx512_bf16 avx512_fp16 amx_int8 amx_bf16");
  EXPECT_EQ(without(everything, "fma"), Isa{});
  EXPECT_EQ(without(everything, "f16c"), Isa{});
  EXPECT_THROW(without(everything, "avx1024"), Error);
}

TEST(Isa, AgreesWithTheKernelsFlags) {
  std::ifstream in("/proc/cpuinfo");
  const std::string info((std::istreambuf_iterator<char>(in)), {});
  const auto flag = [&](const std::string& name) { return info.find(" " + name + " ") != std::string::npos; };
  if (!flag("sse2")) GTEST_SKIP() << "no x86 flags in /proc/cpuinfo";
  EXPECT_EQ(native_isa().avx2, flag("avx2"));
  EXPECT_EQ(native_isa().fma, flag("fma"));
  EXPECT_EQ(native_isa().f16c, flag("f16c"));
  EXPECT_EQ(native_isa().avx512, flag("avx512f") && flag("avx512bw") && flag("avx512dq") && flag("avx512vl"));
  EXPECT_EQ(native_isa().vnni, flag("avx512_vnni"));
  EXPECT_EQ(native_isa().avx_vnni, flag("avx_vnni"));
  EXPECT_EQ(native_isa().avx512_bf16, flag("avx512_bf16"));
}

TEST(Isa, ForbiddingReachesHighway) {
  const RestoreForbidden restore;
  set_forbidden("");
  const std::int64_t all = hwy::SupportedTargets();
  set_forbidden("avx512");
  EXPECT_FALSE(isa().avx512);
  EXPECT_FALSE(isa().vnni);
#if defined(__x86_64__)
  EXPECT_EQ(hwy::SupportedTargets() & (HWY_AVX3 | HWY_AVX3_DL), 0);
  EXPECT_EQ((hwy::SupportedTargets() & HWY_AVX2) != 0, native_isa().avx2);
  forbid("avx2");
  EXPECT_EQ(isa(), Isa{});
  EXPECT_EQ(hwy::SupportedTargets() & (HWY_AVX3 | HWY_AVX3_DL | HWY_AVX2 | HWY_SSE4 | HWY_SSSE3), 0);
#endif
  set_forbidden("");
  EXPECT_EQ(isa(), native_isa());
  EXPECT_EQ(hwy::SupportedTargets(), all);
}

TEST(Isa, ListsOfNames) {
  const RestoreForbidden restore;
  set_forbidden(" vnni, ,avx512_bf16,");
  EXPECT_EQ(forbidden(), (std::vector<std::string>{"vnni", "avx512_bf16"}));
  EXPECT_THROW(set_forbidden("vnni;avx512"), Error);
  EXPECT_EQ(forbidden().size(), 2u);  // a refused list changes nothing
}

}  // namespace
}  // namespace ridge::hw
