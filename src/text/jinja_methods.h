// Shared by the files that hold methods.
#pragma once
#include "text/jinja_builtins.h"
#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// Checks that arguments come by position only, and how many.
void by_position(Machine& machine, const Args& args, std::size_t least, std::size_t most);

MethodLookup find_text_method(std::string_view name);

// The pieces of text.split(separator, most) or, from the right, text.rsplit; `separator` null: white space.
enum class From : std::uint8_t { left, right };
std::vector<std::string_view> split_text(Machine& machine, std::string_view text, const std::string* separator,
                                         std::int64_t most, From from);
enum class LineEnds : bool { dropped, kept };
std::vector<std::string_view> split_lines(std::string_view text, LineEnds ends);
std::string replace_text(Machine& machine, std::string_view text, std::string_view old, std::string_view with,
                         std::int64_t most);
std::string center_text(Machine& machine, std::string_view text, std::int64_t width, std::string_view fill);

}  // namespace ridge::text::jinja
