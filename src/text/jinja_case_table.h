// Case mappings of one character to several.
#pragma once
#include <cstdint>

namespace ridge::text::jinja {

struct SpecialCase {
  std::uint32_t code;
  const char* upper;
  const char* title;
};
extern const SpecialCase special_cases[];  // ascending by code
extern const int special_case_count;

}  // namespace ridge::text::jinja
