#include <algorithm>
#include <tuple>

#include "hw/cpu.h"
#include "probe/probe.h"

namespace ridge::probe {
namespace {

void add_processor(Report& report) {
  const hw::Cpu& c = hw::cpu();
  Section& s = report.section("processor", "Processor");
  s.add("model", "model", c.model).add("vendor", "vendor", c.vendor);
  s.add("logical_cpus", "allowed logical processors", c.allowed.size())
      .add("physical_cores", "on cores", c.physical_cores);
  s.add("sockets", "sockets", c.sockets).add("numa_nodes", "memory nodes", c.numa_nodes);
  s.add("quota_cpus", "quota of the control group", c.quota_cpus)
      .add("default_threads", "threads ridge uses", hw::default_threads());
  s.add("isa", "instruction sets", hw::isa().text()).add("forbidden", "", hw::forbidden(), Unit::none, Show::json_only);
  s.add("memory_bytes", "memory", c.memory_bytes, Unit::bytes);
  s.add("memory_limit_bytes", "limit of the control group", c.memory_limit_bytes, Unit::bytes);
  s.add("page_bytes", "page", c.page_bytes, Unit::bytes)
      .add("transparent_huge_pages", "huge pages", c.transparent_huge_pages);
  s.add("max_hertz", "highest clock, as the system says", c.max_hertz, Unit::hertz);
}

void add_caches(Report& report) {
  Table& t = report.table("caches", "Caches",
                          {{"level", "level", Unit::count},
                           {"type", "type"},
                           {"bytes", "size of each", Unit::bytes},
                           {"instances", "how many", Unit::count},
                           {"shared_by_cpus", "processors on each", Unit::count}});
  for (const hw::Cache& c : hw::cpu().caches) t.row({c.level, c.type, c.bytes, c.instances, c.shared_by});
}

// The table of what one row is about, then its spread. The best sample comes first: it is the ceiling.
std::vector<Cell> with_spread(std::vector<Cell> cells, const hw::Spread& s) {
  for (Cell c : {Cell(s.best), Cell(s.median), Cell(s.p10), Cell(s.samples)}) cells.push_back(c);
  return cells;
}

std::vector<Column> spread_columns(std::vector<Column> columns, const std::string& key, Unit unit) {
  columns.push_back({key, "ceiling", unit});
  columns.push_back({key + "_median", "median", unit});
  columns.push_back({key + "_p10", "p10", unit});
  columns.push_back({"samples", "samples", Unit::count});
  return columns;
}

void add_bandwidth(Report& report, const hw::Ceilings& c) {
  Table& t = report.table("bandwidth", "Bandwidth by working set (of all threads together)",
                          spread_columns({{"traffic", "traffic"},
                                          {"threads", "threads", Unit::count},
                                          {"working_set_bytes", "working set", Unit::bytes}},
                                         "bytes_per_s", Unit::bytes_per_s));
  auto points = c.bandwidth;
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.traffic, a.threads, a.working_set_bytes) <
           std::tuple(b.traffic, b.threads, b.working_set_bytes);
  });
  for (const hw::BandwidthPoint& p : points)
    t.row(with_spread({hw::name(p.traffic), p.threads, p.working_set_bytes}, p.bytes_per_s));
}

void add_rates(Report& report, const hw::Ceilings& c) {
  auto columns =
      spread_columns({{"kind", "operands"}, {"instruction", "instruction"}, {"threads", "threads", Unit::count}},
                     "ops_per_s", Unit::op_per_s);
  columns.push_back({"ops_per_cycle_per_thread", "a cycle and thread"});
  Table& t = report.table("rates", "Multiply rates (a multiply and an add are two operations)", columns);
  auto points = c.rates;
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.kind, a.threads) < std::tuple(b.kind, b.threads);
  });
  for (const hw::RatePoint& p : points) {
    auto cells = with_spread({hw::name(p.kind), p.instruction, p.threads}, p.ops_per_s);
    cells.push_back(c.clock_hertz > 0 ? Cell(p.ops_per_s.best / c.clock_hertz / p.threads) : Cell());
    t.row(cells);
  }
}

void add_dispatch(Report& report, const hw::Ceilings& c) {
  if (c.dispatch.empty()) return;
  Table& t = report.table("dispatch", "Handing work to the threads and waiting for them",
                          {{"threads", "threads", Unit::count},
                           {"seconds", "cost", Unit::seconds},
                           {"seconds_p10", "p10", Unit::seconds},
                           {"seconds_p90", "p90", Unit::seconds}});
  auto points = c.dispatch;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.threads < b.threads; });
  for (const hw::DispatchPoint& p : points) t.row({p.threads, p.seconds.median, p.seconds.p10, p.seconds.p90});
}

void add_conditions(Report& report, const hw::Ceilings& c) {
  Section& s = report.section("measurement", "Measurement");
  s.add("thoroughness", "mode", c.thoroughness == hw::Thoroughness::full ? "full" : "quick");
  s.add("measured_at_s", "at", c.measured_at_s, Unit::none, Show::json_only);
  s.add("clock_hertz", "clock while measuring", c.clock_hertz, Unit::hertz);
  s.add("taken_by_others", "taken by other work", c.taken_by_others, Unit::fraction);
}

}  // namespace

Report report_of(const hw::Ceilings& ceilings) {
  Report report("probe");
  report.environment = hw::environment();
  add_processor(report);
  add_caches(report);
  add_conditions(report, ceilings);
  add_bandwidth(report, ceilings);
  add_rates(report, ceilings);
  add_dispatch(report, ceilings);
  for (const std::string& sentence : verdicts(ceilings)) report.note(sentence);
  return report;
}

}  // namespace ridge::probe
