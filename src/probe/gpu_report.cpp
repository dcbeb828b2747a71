// ridge probe --on GPU: the datasheet, and the same sentences as for a measured machine where they apply.
#include "hw/cpu.h"
#include "probe/probe.h"

namespace ridge::probe {

Report report_of(const hw::GpuSpec& gpu) {
  Report report("probe");
  report.environment = hw::environment();
  Section& s = report.section("gpu", "Datasheet (nothing here is measured)");
  s.add("name", "name", gpu.name).add("source", "source", "datasheet", Unit::none, Show::json_only);
  s.add("compute_capability", "compute capability", double(gpu.compute_capability) / 10);
  s.add("memory_bytes", "memory", gpu.memory_bytes(), Unit::bytes);
  s.add("memory_bytes_per_s", "memory bandwidth", gpu.memory_bytes_per_s, Unit::bytes_per_s);
  s.add("l2_bytes", "L2 cache", gpu.l2_bytes, Unit::bytes).add("sms", "multiprocessors", gpu.sms);
  s.add("nvlink_bytes_per_s", "NVLink, both directions", gpu.nvlink_bytes_per_s, Unit::bytes_per_s);
  s.add("pcie_bytes_per_s", "PCIe, both directions", gpu.pcie_bytes_per_s, Unit::bytes_per_s);
  s.add("tdp_watts", "power", gpu.tdp_watts, Unit::watts);
  Table& t = report.table(
      "peaks", "Dense peaks, and the ridge point over memory",
      {{"kind", "operands"}, {"ops_per_s", "peak", Unit::op_per_s}, {"ops_per_byte", "operations a byte"}});
  const std::pair<const char*, std::optional<double>> peaks[] = {
      {"f32", gpu.fp32}, {"tf32", gpu.tf32}, {"bf16", gpu.bf16}, {"f16", gpu.f16},
      {"f8", gpu.fp8},   {"int8", gpu.int8}, {"f4", gpu.fp4}};
  for (const auto& [kind, peak] : peaks) t.row({kind, peak, peak ? Cell(*peak / gpu.memory_bytes_per_s) : Cell()});
  report.note(
      "A call that does fewer operations a byte than the ridge point is bound by memory. Kernels reach 85 to 97 % of "
      "a\n"
      "datasheet's bandwidth, and less of its peaks.");
  return report;
}

}  // namespace ridge::probe
