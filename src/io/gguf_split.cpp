// Opening a GGUF model of one file or of many.
#include <charconv>
#include <map>

#include "base/error.h"
#include "io/gguf.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

std::optional<std::uint64_t> five_digits(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.size() != 5 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

GgufPart open_part(const std::filesystem::path& path) {
  MappedFile file(path);
  GgufHeader header = parse_gguf(file.bytes(), file.name());
  return {std::move(file), std::move(header)};
}

void check_part(const GgufPart& part, std::uint64_t number, std::uint64_t count) {
  const GgufMetadata& m = part.header.metadata;
  if (m.get_u64("split.count", 1) != count || m.get_u64("split.no", 0) != number)
    fail_input(
        "{}: says that it is part {} of {} (from 0), where part {} of {} is expected: the parts are of different "
        "models",
        part.file.name(), m.get_u64("split.no", 0), m.get_u64("split.count", 1), number, count);
}

void check_together(const GgufFile& model) {
  std::map<std::string_view, const GgufPart*> seen;
  for (const GgufPart& part : model.parts)
    for (const GgufTensor& t : part.header.tensors)
      if (const auto [at, fresh] = seen.emplace(t.name, &part); !fresh)
        fail_input("{}: tensor {} is also in {}", part.file.name(), quote(t.name), at->second->file.name());
  const std::uint64_t claimed = model.metadata().get_u64("split.tensors.count", seen.size());
  if (claimed != seen.size())
    fail_input("{}: split.tensors.count is {}, but the parts hold {} tensors", model.parts.front().file.name(), claimed,
               seen.size());
}

}  // namespace

std::optional<GgufPartName> gguf_part_name(std::string_view name) {
  constexpr std::string_view pattern = "-00001-of-00001.gguf";
  if (name.size() <= pattern.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - pattern.size());
  const auto number = five_digits(tail.substr(1, 5)), count = five_digits(tail.substr(10, 5));
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf" || !number || !count)
    return std::nullopt;
  return GgufPartName{std::string(name.substr(0, name.size() - pattern.size())), *number, *count};
}

GgufFile open_gguf(const std::filesystem::path& path) {
  GgufFile model;
  model.parts.push_back(open_part(path));
  const std::uint64_t count = model.metadata().get_u64("split.count", 1);
  if (count <= 1) return model;

  const auto named = gguf_part_name(path.filename().string());
  if (!named || named->count != count || named->number != model.metadata().get_u64("split.no", 0) + 1)
    fail_input(
        "{}: is part {} of a model split into {}; its name must end in -{:05}-of-{:05}.gguf so that the others are "
        "found",
        path.string(), model.metadata().get_u64("split.no", 0), count, model.metadata().get_u64("split.no", 0) + 1,
        count);
  GgufPart given = std::move(model.parts.front());
  model.parts.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto sibling = path.parent_path() / fmt::format("{}-{:05}-of-{:05}.gguf", named->prefix, i + 1, count);
    if (i + 1 != named->number && !std::filesystem::exists(sibling))
      fail_input("{}: part {} of {} is missing; all parts must lie in one folder", sibling.string(), i + 1, count);
    model.parts.push_back(i + 1 == named->number ? std::move(given) : open_part(sibling));
    check_part(model.parts.back(), i, count);
  }
  check_together(model);
  return model;
}

}  // namespace ridge::io
