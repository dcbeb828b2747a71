// The text printer: what a verb's report looks like on a terminal.
#pragma once
#include <cstdio>
#include <string>

#include "base/report.h"

namespace ridge {

std::string cell_text(const Cell& cell, Unit unit);
std::string text_of(const Section& section);
std::string text_of(const Table& table);
std::string text_of(const Report& report);

enum class OutputForm : std::uint8_t { text, json };
void print(const Report& report, OutputForm form, std::FILE* out = stdout);

}  // namespace ridge
