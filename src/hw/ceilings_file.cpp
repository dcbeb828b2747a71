// ceilings.json: {"schema_version": 1, "machines": [record, …]}, one record for each machine key.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "hw/ceilings.h"
#include "hw/small_file.h"

namespace ridge::hw {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int schema = 1;
constexpr std::size_t most_machines = 64;  // the newest are kept
constexpr std::size_t most_points = 4096;

Json to_json(const Spread& s) {
  return {{"median", s.median}, {"p10", s.p10}, {"p90", s.p90}, {"best", s.best}, {"samples", s.samples}};
}

Json to_json(const Ceilings& c) {
  Json j = {{"key", c.key},
            {"device", c.device},
            {"ridge", c.ridge_version},
            {"thoroughness", c.thoroughness == Thoroughness::full ? "full" : "quick"},
            {"measured_at_s", c.measured_at_s},
            {"clock_hertz", c.clock_hertz}};
  if (c.taken_by_others) j["taken_by_others"] = *c.taken_by_others;
  j["bandwidth"] = j["rates"] = j["dispatch"] = Json::array();
  for (const BandwidthPoint& p : c.bandwidth)
    j["bandwidth"].push_back({{"traffic", name(p.traffic)},
                              {"threads", p.threads},
                              {"working_set_bytes", p.working_set_bytes},
                              {"bytes_per_s", to_json(p.bytes_per_s)}});
  for (const RatePoint& p : c.rates)
    j["rates"].push_back({{"kind", name(p.kind)},
                          {"threads", p.threads},
                          {"instruction", p.instruction},
                          {"ops_per_s", to_json(p.ops_per_s)}});
  for (const DispatchPoint& p : c.dispatch)
    j["dispatch"].push_back({{"threads", p.threads}, {"seconds", to_json(p.seconds)}});
  return j;
}

// Thrown inside this file only: what is wrong with a record.
struct Nonsense {
  std::string what;
};

double positive(const Json& j, const char* key) {
  const double v = j.at(key).get<double>();
  if (!std::isfinite(v) || v <= 0) throw Nonsense{fmt::format("{} is {}", key, v)};
  return v;
}

int count(const Json& j, const char* key, int least, int most) {
  const auto v = j.at(key).get<std::int64_t>();
  if (v < least || v > most) throw Nonsense{fmt::format("{} is {}", key, v)};
  return int(v);
}

Spread spread(const Json& j) {
  return {positive(j, "median"), positive(j, "p10"), positive(j, "p90"), positive(j, "best"),
          count(j, "samples", 1, 1 << 30)};
}

template <class Enum> Enum named(const Json& j, const char* key, Enum last) {
  const auto text = j.at(key).get<std::string>();
  for (int i = 0; i <= int(last); ++i)
    if (name(Enum(i)) == text) return Enum(i);
  throw Nonsense{fmt::format("{} is {}", key, text)};
}

const Json& list(const Json& j, const char* key) {
  const Json& l = j.at(key);
  if (!l.is_array() || l.size() > most_points) throw Nonsense{fmt::format("{} is not a list of points", key)};
  return l;
}

Ceilings ceilings_from(const Json& j) {
  Ceilings c;
  c.key = j.at("key").get<std::string>();
  c.device = j.at("device").get<std::string>();
  c.ridge_version = j.at("ridge").get<std::string>();
  c.thoroughness = j.at("thoroughness") == "full" ? Thoroughness::full : Thoroughness::quick;
  c.measured_at_s = j.at("measured_at_s").get<std::int64_t>();
  c.clock_hertz = positive(j, "clock_hertz");
  if (j.contains("taken_by_others")) c.taken_by_others = j["taken_by_others"].get<double>();
  for (const Json& p : list(j, "bandwidth")) {
    const auto bytes = p.at("working_set_bytes").get<std::int64_t>();
    if (bytes <= 0) throw Nonsense{fmt::format("working_set_bytes is {}", bytes)};
    c.bandwidth.push_back(
        {named(p, "traffic", Traffic::triad), count(p, "threads", 1, max_threads), bytes, spread(p.at("bytes_per_s"))});
  }
  for (const Json& p : list(j, "rates"))
    c.rates.push_back({named(p, "kind", Arithmetic::f4), count(p, "threads", 1, max_threads),
                       p.at("instruction").get<std::string>(), spread(p.at("ops_per_s"))});
  for (const Json& p : list(j, "dispatch"))
    c.dispatch.push_back({count(p, "threads", 1, max_threads), spread(p.at("seconds"))});
  if (c.bandwidth.empty() || c.rates.empty()) throw Nonsense{"it holds no measurements"};
  return c;
}

// The records of the file; none when there is no file or it is not one of ours. Bounded: 4 MiB (read_small_file).
Json machines_in(const fs::path& file) {
  const std::string text = read_small_file(file);
  if (text.empty()) return Json::array();
  const Json j = Json::parse(text, nullptr, false);
  const bool ours = j.is_object() && j.contains("machines") && j["machines"].is_array() && j.contains("schema_version");
  if (ours && j["schema_version"] == schema) return j["machines"];
  log_warning("{} does not hold ceilings of schema {}: ignored", file.string(), schema);
  return Json::array();
}

bool has_key(const Json& record, std::string_view key) {
  return record.is_object() && record.contains("key") && record["key"].is_string() &&
         record["key"].get_ref<const std::string&>() == key;
}

class LockedFile {  // held while a file beside it is rewritten
 public:
  explicit LockedFile(const fs::path& path) : fd_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail_machine("cannot create {}: {}", path.string(), std::strerror(errno));
    while (flock(fd_, LOCK_EX) != 0)
      if (errno != EINTR) break;  // a file system without locks: the rename alone still keeps the file whole
  }
  ~LockedFile() { close(fd_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

 private:
  int fd_;
};

void replace_file(const fs::path& file, const std::string& text) {
  const fs::path fresh = file.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << text << '\n' << std::flush;
    if (!out) fail_machine("cannot write {}: {}", fresh.string(), std::strerror(errno));
  }
  std::error_code error;
  fs::rename(fresh, file, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(fresh, ignored);
  fail_machine("cannot write {}: {}", file.string(), error.message());
}

}  // namespace

fs::path ceilings_path() {
  if (const char* file = std::getenv("RIDGE_CEILINGS"); file && *file) return file;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache && *cache == '/' ? fs::path(cache) : fs::path(home && *home ? home : "/tmp") / ".cache";
  return base / "ridge" / "ceilings.json";
}

std::optional<Ceilings> load_ceilings(const fs::path& file, std::string_view key) {
  for (const Json& record : machines_in(file)) {
    if (!has_key(record, key)) continue;
    try {
      return ceilings_from(record);
    } catch (const Nonsense& e) {
      log_warning("{}: the record of this machine is unusable ({}): ignored", file.string(), e.what);
    } catch (const Json::exception& e) {
      log_warning("{}: the record of this machine is unusable ({}): ignored", file.string(), e.what());
    }
    return std::nullopt;
  }
  return std::nullopt;
}

void save_ceilings(const fs::path& file, const Ceilings& ceilings) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) fail_machine("cannot create {}: {}", file.parent_path().string(), error.message());
  const LockedFile lock(file.string() + ".lock");
  Json machines = Json::array({to_json(ceilings)});
  for (Json& record : machines_in(file))
    if (!has_key(record, ceilings.key) && machines.size() < most_machines) machines.push_back(std::move(record));
  replace_file(file, Json{{"schema_version", schema}, {"machines", std::move(machines)}}.dump(1));
}

}  // namespace ridge::hw
