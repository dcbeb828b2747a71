#include "probe/probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_print.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "hw/cpu.h"
#include "probe/kernels.h"
#include "probe/measure_parts.h"
#include "probe/working_memory.h"

namespace ridge::probe {
namespace {

using hw::Arithmetic, hw::Traffic;

struct EveryIsa {  // runs a body with what the machine has, then with less and less
  template <class Body> static void run(Body body) {
    std::string before;
    for (const std::string& name : hw::forbidden()) before += name + ",";
    for (const char* names : {"", "avx512", "avx2"}) {
      hw::set_forbidden(names);
      body();
    }
    hw::set_forbidden(before);
  }
};

TEST(ProbeKernels, TrafficDoesWhatItSays) {
  constexpr std::int64_t area = 8 * 4096;
  WorkingMemory memory(3 * area);
  ThreadPool pool(2);
  EveryIsa::run([&] {
    memory.fill(pool);
    std::byte* base = memory.bytes().data();
    const Slice slice{base, base + area, base + 2 * area, area};
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < area; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, base + i, 8);
      all ^= word;
    }
    ASSERT_NE(all, 0u);
    for (const TrafficKernel& kernel : traffic_kernels()) {
      std::memset(slice.out, 0, area);
      const std::uint64_t result = kernel.run(slice);
      if (kernel.traffic == Traffic::read) {
        EXPECT_EQ(result, all) << kernel.name;  // it has seen every byte
      }
      if (kernel.traffic == Traffic::copy) {
        EXPECT_EQ(std::memcmp(slice.out, slice.in, area), 0) << kernel.name;
      }
      if (kernel.traffic == Traffic::write) {
        for (std::int64_t at = 0; at < area; at += 64) {
          ASSERT_EQ(std::memcmp(slice.out + at, slice.in, 16), 0) << kernel.name;
        }
      }
      if (kernel.traffic != Traffic::triad) continue;
      for (std::int64_t i = 0; i < area; i += 4) {
        float a, b, c;
        std::memcpy(&a, slice.out + i, 4), std::memcpy(&b, slice.in + i, 4), std::memcpy(&c, slice.in2 + i, 4);
        ASSERT_EQ(a, b + 0.5f * c) << kernel.name;
      }
    }
  });
}

TEST(ProbeKernels, OperandsAreNeverZero) {
  const Operands& o = random_operands();
  for (int i = 0; i < 64; ++i) {
    float f;
    std::memcpy(&f, o.floats + 4 * i, 4);
    EXPECT_GE(std::fabs(f), 0.5f);
    EXPECT_LT(std::fabs(f), 1.5f);
    std::uint32_t half = 0;
    std::memcpy(reinterpret_cast<char*>(&half) + 2, o.bf16 + 2 * i, 2);
    std::memcpy(&f, &half, 4);
    EXPECT_GE(std::fabs(f), 0.49f);
    EXPECT_LT(std::fabs(f), 1.5f);
  }
}

TEST(ProbeKernels, EveryKindHasOneAtEveryIsa) {
  EveryIsa::run([] {
    std::vector<Arithmetic> kinds;
    for (const RateKernel& kernel : rate_kernels()) kinds.push_back(kernel.kind);
    for (Arithmetic kind : {Arithmetic::f32, Arithmetic::f64, Arithmetic::int8})
      EXPECT_NE(std::find(kinds.begin(), kinds.end(), kind), kinds.end());
  });
}

hw::Cpu big_machine() {  // 2 sockets, 8 last-level caches of 32 MiB, each for 8 cores
  hw::Cpu c;
  c.caches = {{1, "Data", 32 << 10, 64, 2},
              {1, "Instruction", 64 << 10, 64, 2},
              {2, "Unified", 1 << 20, 64, 2},
              {3, "Unified", 32 << 20, 8, 16}};
  return c;
}

TEST(WorkingSets, CoverCachesAndMemory) {
  constexpr std::int64_t MiB = 1 << 20, lots = std::int64_t(64) << 30;
  for (auto points : {Points::few, Points::all})
    for (int threads : {1, 64}) {
      const auto sizes = working_sets(big_machine(), threads, points, lots);
      ASSERT_GE(sizes.size(), 5u);
      EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
      EXPECT_LE(sizes.front(), (32 << 10) * threads);
      EXPECT_EQ(sizes.back(), threads == 1 ? 128 * MiB : 1024 * MiB);  // four times what these threads have as cache
      for (std::int64_t size : sizes) EXPECT_EQ(size % 4096, 0);
    }
  const auto small = working_sets(big_machine(), 64, Points::all, 16 * MiB);
  EXPECT_LE(small.back(), 16 * MiB);
  EXPECT_FALSE(working_sets(hw::Cpu{}, 1, Points::few, lots).empty());  // a machine that does not tell its caches
}

hw::Spread exactly(double v) { return {v, v, v, v, 10}; }

hw::Ceilings made_up() {
  hw::Ceilings c;
  c.device = "A processor", c.clock_hertz = 4e9, c.taken_by_others = 0.4;
  for (int threads : {1, 2}) {
    c.bandwidth.push_back({Traffic::read, threads, 1 << 20, exactly(200e9 * threads)});
    c.bandwidth.push_back({Traffic::read, threads, 1 << 30, exactly(threads == 1 ? 15e9 : 30e9)});
    c.rates.push_back({Arithmetic::f32, threads, "avx2 vfmadd", exactly(128e9 * threads)});
    c.rates.push_back({Arithmetic::int8, threads, "avx vpdpbusd", exactly(480e9 * threads)});
    c.dispatch.push_back({threads, exactly(1e-7 * threads)});
  }
  return c;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(Verdicts, SayWhatTheNumbersMean) {
  const std::string says = joined(verdicts(made_up()));
  EXPECT_NE(says.find("2 threads read 30.0 GB/s, 2.00× of one"), std::string::npos) << says;
  EXPECT_NE(says.find("32.0 operations a byte"), std::string::npos) << says;  // 960 GOP/s over 30 GB/s
  EXPECT_NE(says.find("below about 10 tokens"), std::string::npos) << says;   // 32 / 3.2
  EXPECT_NE(says.find("3.75× of f32's rate"), std::string::npos) << says;
  EXPECT_NE(says.find("took 40 % of the processors"), std::string::npos) << says;
  hw::Ceilings flat = made_up();
  for (auto& p : flat.bandwidth) p.bytes_per_s = exactly(20e9);
  EXPECT_NE(joined(verdicts(flat)).find("one thread reads all there is"), std::string::npos);
  EXPECT_TRUE(joined(verdicts(hw::Ceilings{})).find("Memory") == std::string::npos);  // nothing measured, nothing said
}

TEST(ProbeReport, IsOneJsonObject) {
  const auto j = nlohmann::json::parse(json_of(report_of(made_up())));
  EXPECT_EQ(j["verb"], "probe");
  EXPECT_EQ(j["bandwidth"].size(), 4u);
  EXPECT_EQ(j["bandwidth"][3]["bytes_per_s"], 30e9);
  EXPECT_EQ(j["rates"][0]["ops_per_cycle_per_thread"], 32);
  EXPECT_TRUE(j["environment"].contains("isa"));
  const auto gpu = nlohmann::json::parse(json_of(report_of(hw::gpu_named("h200"))));
  EXPECT_EQ(gpu["gpu"]["source"], "datasheet");
  EXPECT_NEAR(gpu["peaks"][2]["ops_per_byte"].get<double>(), 206.1, 0.1);  // 989.4 TFLOP/s of bf16 over 4.8 TB/s
  EXPECT_TRUE(gpu["peaks"][6]["ops_per_s"].is_null());                     // no fp4
}

// The one test that measures: whatever the load of the machine, nothing can be faster than physics.
TEST(Probe, MeasuresOnceKeepsItAndStaysBelowPhysics) {
  std::string folder = std::filesystem::temp_directory_path() / "ridge_probe_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const char* before = getenv("RIDGE_CEILINGS");
  const std::string old = before ? before : "";
  setenv("RIDGE_CEILINGS", (folder + "/ceilings.json").c_str(), 1);
  set_log_level(LogLevel::error);
  const hw::Ceilings c = ensure_ceilings(2);
  EXPECT_TRUE(std::filesystem::exists(folder + "/ceilings.json"));
  const auto kept = hw::load_ceilings(hw::ceilings_path(), hw::machine_key());
  set_log_level(LogLevel::info);
  if (old.empty()) unsetenv("RIDGE_CEILINGS");
  else setenv("RIDGE_CEILINGS", old.c_str(), 1);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(kept, c);

  constexpr double fastest_clock = 6.5e9, units = 2;  // no processor has more than two 64-byte multipliers a core
  for (const hw::RatePoint& p : c.rates) {
    const double lanes = p.kind == Arithmetic::f64    ? 8
                         : p.kind == Arithmetic::f32  ? 16
                         : p.kind == Arithmetic::bf16 ? 32
                                                      : 64;
    EXPECT_LE(p.ops_per_s.best, fastest_clock * units * 2 * lanes * p.threads) << p.instruction;
    EXPECT_GT(p.ops_per_s.best, 1e8) << p.instruction;
    EXPECT_LE(p.ops_per_s.p10, p.ops_per_s.best);
  }
  for (const hw::BandwidthPoint& p : c.bandwidth) {  // two loads of 64 bytes a cycle
    EXPECT_LE(p.bytes_per_s.best, fastest_clock * 2 * 64 * 1.5 * p.threads) << p.working_set_bytes;
    EXPECT_GT(p.bytes_per_s.best, 1e8);
  }
  EXPECT_TRUE(c.read_bytes_per_s(1, 1 << 20));
  EXPECT_TRUE(c.bytes_per_s(Traffic::copy, 2, 1 << 28));
  EXPECT_TRUE(c.ops_per_s(Arithmetic::int8, 2));
  EXPECT_LT(*c.dispatch_s(1), 1e-3);
}

}  // namespace
}  // namespace ridge::probe
