#include "hw/ceilings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "hw/isa.h"

namespace ridge::hw {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string name = fs::temp_directory_path() / "ridge_ceilings_XXXXXX";
    path = mkdtemp(name.data());
    set_log_level(LogLevel::error);
  }
  ~Folder() {
    fs::remove_all(path);
    set_log_level(LogLevel::info);
  }
  fs::path path;
};

constexpr std::int64_t MiB = 1 << 20;

Spread exactly(double v) { return {v, v * 0.9, v * 1.05, v * 1.1, 30}; }

Ceilings sample(const std::string& key = "machine a") {
  Ceilings c;
  c.device = "A processor", c.key = key, c.ridge_version = "0.1.0", c.measured_at_s = 1'700'000'000;
  c.clock_hertz = 3.1e9, c.taken_by_others = 0.02;
  c.bandwidth = {{Traffic::read, 1, 1 * MiB, {90e9, 80e9, 90e9, 100e9, 30}},
                 {Traffic::read, 1, 64 * MiB, {9e9, 8e9, 9e9, 10e9, 30}},
                 {Traffic::read, 4, 1 * MiB, {350e9, 300e9, 350e9, 400e9, 30}},
                 {Traffic::read, 4, 64 * MiB, {28e9, 25e9, 28e9, 30e9, 30}},
                 {Traffic::copy, 4, 64 * MiB, exactly(20e9)}};
  c.rates = {{Arithmetic::f32, 1, "avx2 fma", exactly(100e9)},
             {Arithmetic::f32, 1, "scalar", exactly(10e9)},
             {Arithmetic::int8, 4, "avx512 vpdpbusd", exactly(4e12)}};
  c.dispatch = {{1, exactly(20e-9)}, {4, exactly(500e-9)}};
  return c;
}

TEST(Ceilings, InterpolateBySizeAndThreads) {
  const Ceilings c = sample();
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(1, 1 * MiB), 100e9);
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(1, 1024), 100e9);  // smaller than measured: the nearest
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(1, 1024 * MiB), 10e9);
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(1, 8 * MiB), 55e9);  // halfway in the logarithm
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(4, 64 * MiB), 30e9);
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(2, 64 * MiB), 10e9 + 20e9 / 3);
  EXPECT_DOUBLE_EQ(*c.read_bytes_per_s(64, 64 * MiB), 30e9);
  EXPECT_FALSE(c.bytes_per_s(Traffic::write, 1, MiB));        // nothing of it was measured
  EXPECT_DOUBLE_EQ(*c.ops_per_s(Arithmetic::f32, 1), 110e9);  // the best instruction there is
  EXPECT_DOUBLE_EQ(*c.ops_per_s(Arithmetic::int8, 1), 4.4e12);
  EXPECT_FALSE(c.ops_per_s(Arithmetic::bf16, 1));
  EXPECT_DOUBLE_EQ(*c.dispatch_s(1), 20e-9);
  EXPECT_DOUBLE_EQ(*c.dispatch_s(4), 500e-9);
  EXPECT_FALSE(Ceilings{}.read_bytes_per_s(1, MiB));
}

TEST(Ceilings, TheBetterOfTwoRecords) {
  Ceilings newer = sample(), older = sample();
  newer.clock_hertz = 1e9;
  newer.bandwidth[0].bytes_per_s = exactly(50e9);
  older.bandwidth[1].bytes_per_s = exactly(1e9);
  older.bandwidth.push_back({Traffic::write, 1, MiB, exactly(7e9)});
  newer.rates[2].ops_per_s = exactly(5e12);
  newer.dispatch[1].seconds = exactly(900e-9);
  const Ceilings best = better_of(newer, older);
  EXPECT_EQ(best.clock_hertz, 1e9);
  EXPECT_EQ(best.bandwidth[0], older.bandwidth[0]);
  EXPECT_EQ(best.bandwidth[1], newer.bandwidth[1]);
  EXPECT_EQ(best.bandwidth.back(), older.bandwidth.back());
  EXPECT_EQ(best.rates[2], newer.rates[2]);
  EXPECT_EQ(best.dispatch[1], older.dispatch[1]);
}

TEST(Ceilings, SavedIsLoaded) {
  const Folder folder;
  const fs::path file = folder.path / "deep" / "ceilings.json";
  EXPECT_FALSE(load_ceilings(file, "machine a"));  // no file, no folder
  save_ceilings(file, sample());
  EXPECT_EQ(load_ceilings(file, "machine a"), sample());
  EXPECT_FALSE(load_ceilings(file, "machine b"));  // another machine's are not ours
  save_ceilings(file, sample("machine b"));
  Ceilings newer = sample();
  newer.clock_hertz = 4e9;
  save_ceilings(file, newer);
  EXPECT_EQ(load_ceilings(file, "machine a"), newer);
  EXPECT_EQ(load_ceilings(file, "machine b"), sample("machine b"));
}

TEST(Ceilings, NonsenseIsIgnoredAndReplaced) {
  const Folder folder;
  const fs::path file = folder.path / "ceilings.json";
  save_ceilings(file, sample());
  std::ifstream in(file);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(file) << text;
    return load_ceilings(file, "machine a");
  };
  EXPECT_TRUE(with("\"read\"", "\"read\""));
  EXPECT_FALSE(with("\"read\"", "\"reed\""));
  EXPECT_FALSE(with("\"threads\": 1", "\"threads\": 0"));
  EXPECT_FALSE(with("\"threads\": 1", "\"threads\": 99999999999"));
  EXPECT_FALSE(with("\"threads\": 1", "\"threads\": \"1\""));
  EXPECT_FALSE(with("90000000000.0", "-1"));
  EXPECT_FALSE(with("90000000000.0", "1e999"));
  EXPECT_FALSE(with("90000000000.0", "null"));
  EXPECT_FALSE(with("\"working_set_bytes\": 1048576", "\"working_set_bytes\": 0"));
  EXPECT_FALSE(with("\"bandwidth\": [", "\"bandwith\": ["));
  EXPECT_FALSE(with("\"schema_version\": 1", "\"schema_version\": 2"));
  for (const char* text : {"", "{", "[]", "null", "{\"schema_version\": 1, \"machines\": [1, null, {\"key\": 3}]}"}) {
    std::ofstream(file) << text;
    EXPECT_FALSE(load_ceilings(file, "machine a")) << text;
    save_ceilings(file, sample());
    EXPECT_TRUE(load_ceilings(file, "machine a")) << text;
  }
  std::ofstream(file) << std::string(100'000, '[');  // deep nesting
  EXPECT_FALSE(load_ceilings(file, "machine a"));
}

TEST(Ceilings, ManyWritersAtOnceLoseNothing) {
  const Folder folder;
  const fs::path file = folder.path / "ceilings.json";
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 5; ++i) save_ceilings(file, sample(fmt::format("machine {} {}", w, i)));
    });
  for (auto& w : writers) w.join();
  for (int w = 0; w < 4; ++w)
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(load_ceilings(file, fmt::format("machine {} {}", w, i)));
}

TEST(Ceilings, AFolderThatCannotBeMadeIsTheMachinesLimit) {
  EXPECT_THROW(save_ceilings("/proc/none/ceilings.json", sample()), Error);
}

TEST(Ceilings, WhereTheFileIs) {
  const auto with = [](const char* file, const char* cache, const char* home) {
    setenv("RIDGE_CEILINGS", file, 1), setenv("XDG_CACHE_HOME", cache, 1), setenv("HOME", home, 1);
    return ceilings_path().string();
  };
  const std::string old_home = getenv("HOME") ? getenv("HOME") : "";
  const char* cache_now = getenv("XDG_CACHE_HOME");
  const std::string old_cache = cache_now ? cache_now : "",
                    old_file = getenv("RIDGE_CEILINGS") ? getenv("RIDGE_CEILINGS") : "";
  EXPECT_EQ(with("/x/c.json", "/cache", "/home/u"), "/x/c.json");
  EXPECT_EQ(with("", "/cache", "/home/u"), "/cache/ridge/ceilings.json");
  EXPECT_EQ(with("", "", "/home/u"), "/home/u/.cache/ridge/ceilings.json");
  EXPECT_EQ(with("", "relative", "/home/u"),
            "/home/u/.cache/ridge/ceilings.json");  // the XDG standard says to ignore it
  with(old_file.c_str(), old_cache.c_str(), old_home.c_str());
}

TEST(Ceilings, OfANamedGpuAreItsDatasheets) {
  const Ceilings c = ceilings_of(gpu_named("h200"));
  EXPECT_EQ(c.source, Source::datasheet);
  EXPECT_EQ(*c.read_bytes_per_s(1, std::int64_t(1) << 40), 4.8e12);
  EXPECT_EQ(*c.ops_per_s(Arithmetic::f8, 1), 1978.9e12);
  EXPECT_FALSE(c.ops_per_s(Arithmetic::f4, 1));
  EXPECT_FALSE(c.dispatch_s(1));
}

TEST(Ceilings, TheKeyNamesWhatMatters) {
  const std::string key = machine_key();
  EXPECT_NE(key.find(isa().text()), std::string::npos);
}

}  // namespace
}  // namespace ridge::hw
