#include "hw/gpu_spec.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridge::hw {
namespace {

std::string_view found(std::string_view name) {
  const GpuSpec* spec = find_gpu(name);
  return spec ? spec->name : "";
}

TEST(GpuSpec, NamesAsUsersAndDriversWriteThem) {
  EXPECT_EQ(found("h200"), "NVIDIA H200 SXM 141GB");
  EXPECT_EQ(found("H200 SXM"), "NVIDIA H200 SXM 141GB");
  EXPECT_EQ(found("nvidia-h200"), "NVIDIA H200 SXM 141GB");
  EXPECT_EQ(found("h100"), "NVIDIA H100 SXM 80GB");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "NVIDIA H100 SXM 80GB");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "NVIDIA H100 PCIe 80GB");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "NVIDIA H100 NVL 94GB");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 SXM4 80GB");
  EXPECT_EQ(found("a100 40gb"), "NVIDIA A100 SXM4 40GB");
  EXPECT_EQ(found("NVIDIA A100-PCIE-40GB"), "NVIDIA A100 PCIe 40GB");
  EXPECT_EQ(found("Tesla V100-SXM2-16GB"), "NVIDIA V100 SXM2 16GB");
  EXPECT_EQ(found("Tesla T4"), "NVIDIA T4 16GB");
  EXPECT_EQ(found("rtx4090"), "NVIDIA GeForce RTX 4090 24GB");
  EXPECT_EQ(found("NVIDIA GeForce RTX 5090"), "NVIDIA GeForce RTX 5090 32GB");
  EXPECT_EQ(found("A6000"), "NVIDIA RTX A6000 48GB");
  EXPECT_EQ(found("NVIDIA RTX 6000 Ada Generation"), "NVIDIA RTX 6000 Ada 48GB");
  EXPECT_EQ(found("RTX PRO 6000 Blackwell"), "NVIDIA RTX PRO 6000 Blackwell 96GB");
  EXPECT_EQ(found("gh200"), "NVIDIA GH200 96GB");
}

TEST(GpuSpec, WhatIsNotThereIsNotGuessed) {
  for (const char* name : {"", "nvidia", "80gb", "sxm", "h300", "rtx 3090 ti", "4090 laptop", "l40", "mi300x", "rtx"})
    EXPECT_EQ(found(name), "") << name;
  EXPECT_THROW(gpu_named("h300"), Error);
  EXPECT_FALSE(gpu_named("v100").bf16);
  EXPECT_FALSE(gpu_named("a100").fp8);
}

TEST(GpuSpec, EveryRowFindsItselfAndIsConsistent) {
  for (const GpuSpec& g : gpu_specs()) {
    EXPECT_EQ(found(g.name), g.name);
    EXPECT_GE(g.memory_bytes_per_s, 300e9) << g.name;
    const auto ratio = [](auto a, auto b, double unknown) { return a && b ? *a / *b : unknown; };
    EXPECT_NEAR(ratio(g.bf16, g.tf32, 2), 2, 0.1) << g.name;  // so on every generation
    EXPECT_NEAR(ratio(g.fp8, g.bf16, 2), 2, 0.05) << g.name;
    EXPECT_GE(ratio(g.fp4, g.fp8, 2), 1.99) << g.name;
    EXPECT_EQ(ratio(g.bf16, g.f16, 1), 1) << g.name;
  }
}

TEST(GpuSpec, TheH200OfTheDesign) {
  const GpuSpec& g = gpu_named("h200");
  EXPECT_EQ(g.memory_bytes_per_s, 4.8e12);
  EXPECT_NEAR(*g.bf16, 989e12, 1e12);
  EXPECT_EQ(g.compute_capability, 90);
}

}  // namespace
}  // namespace ridge::hw
