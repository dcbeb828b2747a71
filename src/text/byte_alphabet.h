// The alphabet in which byte-level vocabularies are spelled: GPT-2 gave each byte a printable character (Radford et al.
// 2019, encoder.py, bytes_to_unicode), so that a space reads "Ġ". Printable Latin-1 stands for itself; the other bytes,
// in order, are U+0100 and on.
#pragma once
#include <string>
#include <string_view>

namespace ridge::text {

char32_t character_of_byte(unsigned char byte);

// The byte that a character stands for, or -1.
int byte_of_character(char32_t code);

// Appends the bytes that `spelled` stands for. False, with nothing appended, where a character is not of the alphabet.
bool append_bytes_of(std::string_view spelled, std::string& out);

// The other way: bytes as a vocabulary spells them.
void append_spelling_of(std::string_view bytes, std::string& out);

}  // namespace ridge::text
