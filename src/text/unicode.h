// What normalizers need of Unicode's tables. Texts are valid UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace ridge::text {

enum class Form { nfc, nfd, nfkc, nfkd };  // UAX #15

// Appends the text in a normal form. Time is n log n also for long runs of combining marks.
void append_normalized(Form form, std::string_view text, std::string& out);

// Appends the lower case of each character by itself (no final sigma), as Rust's char::to_lowercase.
void append_lowercase(std::string_view text, std::string& out);

bool is_mark(char32_t code);  // categories Mn, Mc, Me
bool is_word(char32_t code);  // \w of Unicode: Alphabetic, M, Nd, Pc, Join_Control

}  // namespace ridge::text
