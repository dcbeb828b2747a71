// What vendors' datasheets say of GPUs. Not measured, and never mixed with what is. What a datasheet does not say, or
// the hardware does not have, stays empty.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ridge::hw {

struct GpuSpec {
  std::string_view name;   // "NVIDIA H200 SXM 141GB"
  std::string_view words;  // lower-case words by which a user or a driver may name it
  int compute_capability;  // 90 is 9.0
  std::int64_t memory_gb;  // as the datasheet names it; memory_bytes() below says what that is
  double memory_bytes_per_s;
  // Dense peaks, without sparsity, with float32 accumulation where the vendor tells them apart; FLOP/s or OP/s.
  std::optional<double> fp32, tf32, bf16, f16, fp8, int8, fp4;
  std::optional<std::int64_t> l2_bytes;
  std::optional<int> sms;
  std::optional<double> nvlink_bytes_per_s, pcie_bytes_per_s;  // both directions together, as datasheets count
  std::optional<double> tdp_watts;

  // A datasheet's GB of GPU memory are 2^30 bytes; the driver and ECC keep 1 to 6 % of them.
  std::int64_t memory_bytes() const { return memory_gb << 30; }
};

std::span<const GpuSpec> gpu_specs();

// "h200", "H200 SXM", "NVIDIA A100-SXM4-80GB", "rtx4090": every word must be one of a row's words; the first such row.
// Null when there is none.
const GpuSpec* find_gpu(std::string_view name);
const GpuSpec& gpu_named(std::string_view name);  // or an input error that lists the names

}  // namespace ridge::hw
