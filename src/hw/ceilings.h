// Records of what a machine can do at most: bandwidth by working set, arithmetic by kind. How they are measured is
// probe's business; how they bound a call is roof's. A named GPU's come from its datasheet and say so.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "hw/gpu_spec.h"

namespace ridge::hw {

struct Spread {  // of samples
  double median = 0, p10 = 0, p90 = 0;
  double best = 0;  // the highest rate, the shortest time
  int samples = 0;
  bool operator==(const Spread&) const = default;
};

enum class Traffic : std::uint8_t { read, write, copy, triad };  // copy and triad count bytes read and bytes written
enum class Arithmetic : std::uint8_t {
  f32,
  f64,
  int8,
  bf16,
  f16,
  tf32,
  f8,
  f4
};  // a multiply and an add are two operations
std::string_view name(Traffic traffic);
std::string_view name(Arithmetic kind);

struct BandwidthPoint {
  Traffic traffic = Traffic::read;
  int threads = 1;
  std::int64_t working_set_bytes = 0;  // of all threads together
  Spread bytes_per_s;
  bool operator==(const BandwidthPoint&) const = default;
};

struct RatePoint {
  Arithmetic kind = Arithmetic::f32;
  int threads = 1;
  std::string instruction;  // "avx512 vpdpbusd"
  Spread ops_per_s;
  bool operator==(const RatePoint&) const = default;
};

struct DispatchPoint {  // handing one piece of work to a thread pool and waiting for it
  int threads = 1;
  Spread seconds;
  bool operator==(const DispatchPoint&) const = default;
};

enum class Source : std::uint8_t { measured, datasheet };
enum class Thoroughness : std::uint8_t { quick, full };

struct Ceilings {
  Source source = Source::measured;
  Thoroughness thoroughness = Thoroughness::quick;
  std::string device;  // the processor's or GPU's name
  std::string key;     // machine_key() where they were measured
  std::string ridge_version;
  std::int64_t measured_at_s = 0;  // since 1970, UTC
  double clock_hertz = 0;
  std::optional<double> taken_by_others;  // part of the processors' time while measuring
  std::vector<BandwidthPoint> bandwidth;
  std::vector<RatePoint> rates;
  std::vector<DispatchPoint> dispatch;

  bool operator==(const Ceilings&) const = default;

  // What is reachable: the best sample. Each takes milliseconds, so no clock flatters it, and disturbances only make a
  // machine look slower. Between measured working sets and thread counts it is interpolated (by the logarithm of the
  // size), outside them the nearest counts. Nothing measured of that traffic or kind: nothing.
  std::optional<double> bytes_per_s(Traffic traffic, int threads, std::int64_t working_set_bytes) const;
  std::optional<double> read_bytes_per_s(int threads, std::int64_t working_set_bytes) const {
    return bytes_per_s(Traffic::read, threads, working_set_bytes);
  }
  std::optional<double> ops_per_s(Arithmetic kind, int threads) const;
  // The median cost of one dispatch, a cost and not a ceiling.
  std::optional<double> dispatch_s(int threads) const;
};

// A GPU as one device: thread counts mean nothing there, and its caches are not priced. Integer and float kinds as the
// datasheet has them; read and copy bandwidth are both the datasheet's, which no kernel reaches.
Ceilings ceilings_of(const GpuSpec& spec);

// Of two records of one machine, the better of every point that both have, and all points that one has; the rest of
// `newer`.
Ceilings better_of(const Ceilings& newer, const Ceilings& older);

// What tells this machine from another, for ceilings: processor, cores, quota, caches, memory, instruction sets
// allowed.
std::string machine_key();

// $RIDGE_CEILINGS, or ridge/ceilings.json in $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path ceilings_path();

// The record of machine `key` in the file; nothing when there is no file, no such record, or one that makes no sense
// (then with a warning: it will be measured again).
std::optional<Ceilings> load_ceilings(const std::filesystem::path& file, std::string_view key);

// Adds or replaces the record of `ceilings.key`, keeping those of other machines (a home folder may be shared). Written
// to a new file that takes the old one's place; several processes may do so at once. Errors are the machine's.
void save_ceilings(const std::filesystem::path& file, const Ceilings& ceilings);

}  // namespace ridge::hw
