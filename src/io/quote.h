// Text from a stranger's file, made safe to print in an error message or a table.
#pragma once
#include <string>
#include <string_view>

namespace ridge::io {

// 'text' in single quotes. Control characters and bytes that are not UTF-8 become \xNN; what is longer than 96 bytes
// is cut and ends in "...".
std::string quote(std::string_view text);

}  // namespace ridge::io
