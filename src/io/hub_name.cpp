#include "io/hub_name.h"

#include <algorithm>
#include <cctype>

#include "text/utf8.h"

namespace ridge::io {
namespace {

constexpr std::size_t most_part = 96, most_path = 1024,
                      most_component = 240;  // of a file name: 255, with ".incomplete"
constexpr std::string_view folder_start = "models--";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_repo_part(std::string_view part) {
  return !part.empty() && part.size() <= most_part && is_word(part.front()) && is_word(part.back()) &&
         std::all_of(part.begin(), part.end(), [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

// Each of the path's components, between slashes.
template <class Check> bool all_components(std::string_view path, Check check) {
  for (std::size_t at = 0;;) {
    const std::size_t slash = path.find('/', at);
    if (!check(path.substr(at, slash == path.npos ? path.npos : slash - at))) return false;
    if (slash == path.npos) return true;
    at = slash + 1;
  }
}

bool is_safe_component(std::string_view part) {
  return !part.empty() && part.size() <= most_component && part != "." && part != "..";
}

}  // namespace

bool is_repo_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (text.find("--") != text.npos || text.find("..") != text.npos || text.ends_with(".git")) return false;
  if (slash == text.npos) return is_repo_part(text);
  return is_repo_part(text.substr(0, slash)) && is_repo_part(text.substr(slash + 1));
}

bool is_revision(std::string_view text) {
  const auto fits = [](char c) { return is_word(c) || std::string_view("-.+/").find(c) != std::string_view::npos; };
  return !text.empty() && text.size() <= most_part * 2 && std::all_of(text.begin(), text.end(), fits) &&
         text.find("..") == text.npos && text.front() != '-' && all_components(text, is_safe_component);
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_safe_file(std::string_view text) {
  if (text.empty() || text.size() > most_path || !text::is_valid_utf8(text)) return false;
  for (char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '\\') return false;
  return all_components(text, is_safe_component);
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  ModelName name;
  const std::size_t colon = text.find(':');
  if (colon != text.npos) {
    name.file = text.substr(colon + 1);
    if (!is_safe_file(name.file)) return std::nullopt;
    text = text.substr(0, colon);
  }
  const std::size_t at = text.find('@');
  if (at != text.npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  name.repo = text;
  if (!is_repo_name(text)) return std::nullopt;
  return name;
}

std::string repo_folder(std::string_view repo) {
  std::string folder(folder_start);
  for (char c : repo) folder += c == '/' ? "--" : std::string(1, c);
  return folder;
}

std::optional<std::string> repo_of_folder(std::string_view folder) {
  if (!folder.starts_with(folder_start)) return std::nullopt;
  std::string repo(folder.substr(folder_start.size()));
  if (const std::size_t border = repo.find("--"); border != repo.npos) repo.replace(border, 2, "/");
  return is_repo_name(repo) ? std::optional(repo) : std::nullopt;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace ridge::io
