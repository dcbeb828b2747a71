#include "hw/gpu_spec.h"

#include <fmt/ranges.h>

#include <cctype>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/small_file.h"

namespace ridge::hw {
namespace {

constexpr std::nullopt_t none = std::nullopt;
constexpr double T = 1e12, G = 1e9;
constexpr std::int64_t MiB = 1 << 20;

// Sources: NVIDIA's datasheet of each product; for the consumer and workstation cards, and for L2 sizes, the
// architecture whitepapers (Volta, Turing, GA100, GA102, Ada, Hopper, Blackwell RTX). Where a datasheet gives peaks
// "with sparsity" the dense peak is half. HGX figures are divided by the GPUs of the board. Where a name leaves the
// form open ("h100"), the first row that fits is meant: SXM before PCIe, more memory before less.
// clang-format off
constexpr GpuSpec table[] = {
  // name, words, capability, GB, bytes/s, fp32, tf32, bf16, f16, fp8, int8, fp4, L2, SMs, NVLink, PCIe, W
  {"NVIDIA T4 16GB", "nvidia tesla t4 16gb pcie", 75, 16, 320*G,
   8.1*T, none, none, 65*T, none, 130*T, none, 4*MiB, 40, none, 32*G, 70},
  {"NVIDIA V100 SXM2 32GB", "nvidia tesla v100 sxm sxm2 32gb", 70, 32, 900*G,
   15.7*T, none, none, 125*T, none, none, none, 6*MiB, 80, 300*G, 32*G, 300},
  {"NVIDIA V100 SXM2 16GB", "nvidia tesla v100 sxm sxm2 16gb", 70, 16, 900*G,
   15.7*T, none, none, 125*T, none, none, none, 6*MiB, 80, 300*G, 32*G, 300},
  {"NVIDIA V100 PCIe 32GB", "nvidia tesla v100 pcie 32gb", 70, 32, 900*G,
   14*T, none, none, 112*T, none, none, none, 6*MiB, 80, none, 32*G, 250},
  {"NVIDIA V100 PCIe 16GB", "nvidia tesla v100 pcie 16gb", 70, 16, 900*G,
   14*T, none, none, 112*T, none, none, none, 6*MiB, 80, none, 32*G, 250},
  {"NVIDIA A10 24GB", "nvidia a10 24gb pcie", 86, 24, 600*G,
   31.2*T, 62.5*T, 125*T, 125*T, none, 250*T, none, 6*MiB, 72, none, 64*G, 150},
  {"NVIDIA A30 24GB", "nvidia a30 24gb pcie", 80, 24, 933*G,
   10.3*T, 82*T, 165*T, 165*T, none, 330*T, none, 24*MiB, 56, 200*G, 64*G, 165},
  {"NVIDIA A40 48GB", "nvidia a40 48gb pcie", 86, 48, 696*G,
   37.4*T, 74.8*T, 149.7*T, 149.7*T, none, 299.3*T, none, 6*MiB, 84, 112.5*G, 64*G, 300},
  {"NVIDIA A100 SXM4 80GB", "nvidia a100 sxm sxm4 80gb", 80, 80, 2039*G,
   19.5*T, 156*T, 312*T, 312*T, none, 624*T, none, 40*MiB, 108, 600*G, 64*G, 400},
  {"NVIDIA A100 PCIe 80GB", "nvidia a100 pcie 80gb", 80, 80, 1935*G,
   19.5*T, 156*T, 312*T, 312*T, none, 624*T, none, 40*MiB, 108, 600*G, 64*G, 300},
  {"NVIDIA A100 SXM4 40GB", "nvidia a100 sxm sxm4 40gb", 80, 40, 1555*G,
   19.5*T, 156*T, 312*T, 312*T, none, 624*T, none, 40*MiB, 108, 600*G, 64*G, 400},
  {"NVIDIA A100 PCIe 40GB", "nvidia a100 pcie 40gb", 80, 40, 1555*G,
   19.5*T, 156*T, 312*T, 312*T, none, 624*T, none, 40*MiB, 108, 600*G, 64*G, 250},
  {"NVIDIA RTX A6000 48GB", "nvidia rtx a6000 48gb pcie", 86, 48, 768*G,
   38.7*T, 77.4*T, 154.8*T, 154.8*T, none, 309.7*T, none, 6*MiB, 84, 112.5*G, 64*G, 300},
  {"NVIDIA L4 24GB", "nvidia l4 24gb pcie", 89, 24, 300*G,
   30.3*T, 60*T, 121*T, 121*T, 242.5*T, 242.5*T, none, 48*MiB, 58, none, 64*G, 72},
  {"NVIDIA L40S 48GB", "nvidia l40s 48gb pcie", 89, 48, 864*G,
   91.6*T, 183*T, 362*T, 362*T, 733*T, 733*T, none, 96*MiB, 142, none, 64*G, 350},
  {"NVIDIA GeForce RTX 3090 24GB", "nvidia geforce rtx 3090 24gb", 86, 24, 936*G,
   35.6*T, 35.6*T, 71*T, 71*T, none, 284*T, none, 6*MiB, 82, 112.5*G, 64*G, 350},
  {"NVIDIA GeForce RTX 4090 24GB", "nvidia geforce rtx 4090 24gb", 89, 24, 1008*G,
   82.6*T, 82.6*T, 165.2*T, 165.2*T, 330.3*T, 660.6*T, none, 72*MiB, 128, none, 64*G, 450},
  {"NVIDIA GeForce RTX 5090 32GB", "nvidia geforce rtx 5090 32gb", 120, 32, 1792*G,
   104.8*T, 104.8*T, 209.5*T, 209.5*T, 419*T, 838*T, 1676*T, 96*MiB, 170, none, 128*G, 575},
  {"NVIDIA RTX 6000 Ada 48GB", "nvidia rtx 6000 ada generation 48gb", 89, 48, 960*G,
   91.1*T, 182.1*T, 364.2*T, 364.2*T, 728.5*T, 728.5*T, none, 96*MiB, 142, none, 64*G, 300},
  {"NVIDIA RTX PRO 6000 Blackwell 96GB", "nvidia rtx pro 6000 blackwell workstation edition 96gb", 120, 96, 1792*G,
   126*T, 251.9*T, 503.8*T, 503.8*T, 1007.6*T, 1007.6*T, 2015.2*T, 128*MiB, 188, none, 128*G, 600},
  {"NVIDIA H100 SXM 80GB", "nvidia h100 sxm sxm5 80gb hbm3", 90, 80, 3350*G,
   67*T, 494.7*T, 989.4*T, 989.4*T, 1978.9*T, 1978.9*T, none, 50*MiB, 132, 900*G, 128*G, 700},
  {"NVIDIA H100 PCIe 80GB", "nvidia h100 pcie 80gb", 90, 80, 2000*G,
   51*T, 378*T, 756*T, 756*T, 1513*T, 1513*T, none, 50*MiB, 114, 600*G, 128*G, 350},
  {"NVIDIA H100 NVL 94GB", "nvidia h100 nvl 94gb", 90, 94, 3900*G,
   60*T, 417.5*T, 835.5*T, 835.5*T, 1670.5*T, 1670.5*T, none, 50*MiB, 132, 600*G, 128*G, 400},
  {"NVIDIA H200 SXM 141GB", "nvidia h200 sxm sxm5 141gb hbm3e", 90, 141, 4800*G,
   67*T, 494.7*T, 989.4*T, 989.4*T, 1978.9*T, 1978.9*T, none, 50*MiB, 132, 900*G, 128*G, 700},
  {"NVIDIA H20 96GB", "nvidia h20 sxm 96gb hbm3", 90, 96, 4000*G,
   44*T, 74*T, 148*T, 148*T, 296*T, 296*T, none, 60*MiB, 78, 900*G, 128*G, 400},
  {"NVIDIA GH200 96GB", "nvidia gh200 96gb hbm3 grace hopper", 90, 96, 4000*G,
   67*T, 494.7*T, 989.4*T, 989.4*T, 1978.9*T, 1978.9*T, none, none, 132, 900*G, 128*G, 1000},
  {"NVIDIA GH200 144GB", "nvidia gh200 144gb hbm3e grace hopper", 90, 144, 4900*G,
   67*T, 494.7*T, 989.4*T, 989.4*T, 1978.9*T, 1978.9*T, none, none, 132, 900*G, 128*G, 1000},
  {"NVIDIA B100 192GB", "nvidia b100 sxm 192gb hbm3e", 100, 192, 8000*G,
   60*T, 900*T, 1750*T, 1750*T, 3500*T, 3500*T, 7000*T, none, none, 1800*G, 128*G, 700},
  {"NVIDIA B200 180GB", "nvidia b200 sxm 180gb hbm3e", 100, 180, 8000*G,
   75*T, 1125*T, 2250*T, 2250*T, 4500*T, 4500*T, 9000*T, 126*MiB, 148, 1800*G, 128*G, 1000},
  {"NVIDIA GB200 186GB", "nvidia gb200 nvl72 186gb hbm3e grace blackwell", 100, 186, 8000*G,
   80*T, 1250*T, 2500*T, 2500*T, 5000*T, 5000*T, 10000*T, 126*MiB, 148, 1800*G, 128*G, 1200},
  {"NVIDIA B300 288GB", "nvidia b300 sxm 288gb hbm3e", 103, 288, 8000*G,
   75*T, 1125*T, 2250*T, 2250*T, 4500*T, none, 13500*T, none, none, 1800*G, none, none},
};
// clang-format on

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (char c : name) {
    if (std::isalnum((unsigned char)c)) words.back() += char(std::tolower((unsigned char)c));
    else if (!words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool has_word(const std::vector<std::string>& known, std::string_view word) {
  for (const std::string& k : known)
    if (k == word) return true;
  return false;
}

bool fits(const GpuSpec& spec, const std::vector<std::string>& wanted) {
  const auto known = split(spec.words, ' ');
  bool names_a_model = false;  // "nvidia" or "80gb" alone names nothing
  for (std::string word : wanted) {
    if (!has_word(known, word) && word.starts_with("rtx")) word = word.substr(3);  // "rtx4090"
    if (!has_word(known, word)) return false;
    const bool digit = word.find_first_of("0123456789") != std::string::npos;
    names_a_model =
        names_a_model || (digit && !word.ends_with("gb") && !word.starts_with("sxm") && !word.starts_with("hbm"));
  }
  return names_a_model;
}

}  // namespace

std::span<const GpuSpec> gpu_specs() { return table; }

const GpuSpec* find_gpu(std::string_view name) {
  const auto wanted = words_of(name);
  for (const GpuSpec& spec : table)
    if (fits(spec, wanted)) return &spec;
  return nullptr;
}

const GpuSpec& gpu_named(std::string_view name) {
  if (const GpuSpec* found = find_gpu(name)) return *found;
  std::vector<std::string_view> names;
  for (const GpuSpec& spec : table) names.push_back(spec.name);
  fail_input("no GPU named \"{}\" in the table of datasheets; it has {}", name, fmt::join(names, ", "));
}

}  // namespace ridge::hw
