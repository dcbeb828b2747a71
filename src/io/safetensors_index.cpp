// Opening a safetensors model of one file or of many.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "io/folder.h"
#include "io/json_bounded.h"
#include "io/quote.h"
#include "io/safetensors.h"

namespace ridge::io {
namespace {

constexpr JsonLimits index_limits{.bytes = 64 << 20, .values = 2'000'000, .depth = 8};
constexpr std::size_t most_shards = 10'000;

SafetensorsPart open_part(const std::filesystem::path& path) {
  MappedFile file(path);
  SafetensorsHeader header = parse_safetensors(file.bytes(), file.name());
  return {std::move(file), std::move(header)};
}

// Tensor name -> shard name.
std::map<std::string, std::string> read_index(const std::filesystem::path& path) {
  const nlohmann::ordered_json json = read_json(path, index_limits);
  const auto found = json.is_object() ? json.find("weight_map") : json.end();
  if (found == json.end() || !found->is_object()) fail_input("{}: has no object 'weight_map'", path.string());
  std::map<std::string, std::string> shard_of;
  for (const auto& [name, shard] : found->items()) {
    if (!shard.is_string()) fail_input("{}: weight_map: {} is not mapped to a file name", path.string(), quote(name));
    shard_of.emplace(name, shard.get<std::string>());
  }
  return shard_of;
}

void check_count(const std::filesystem::path& path, std::size_t shards) {
  if (shards == 0 || shards > most_shards)
    fail_input("{}: names {} shards; 1 to {} are accepted", path.string(), shards, most_shards);
}

}  // namespace

std::vector<std::string> safetensors_shards(const std::filesystem::path& index) {
  std::set<std::string> shards;
  for (const auto& [name, shard] : read_index(index)) shards.insert(shard);
  check_count(index, shards.size());
  return {shards.begin(), shards.end()};
}

std::vector<SafetensorsPart> open_safetensors(const std::filesystem::path& path) {
  std::vector<SafetensorsPart> parts;
  if (!path.string().ends_with(".index.json")) {
    parts.push_back(open_part(path));
    return parts;
  }
  const auto shard_of = read_index(path);
  std::map<std::string, std::size_t> part_of;  // shard name -> index; in order of names
  for (const auto& [name, shard] : shard_of) part_of.emplace(shard, 0);
  check_count(path, part_of.size());

  std::map<std::string, std::string> found_in;  // tensor name -> shard name
  for (auto& [shard, index] : part_of) {
    index = parts.size();
    parts.push_back(open_part(required_file_in(path.parent_path(), shard, path.filename().string())));
    for (const SafetensorsTensor& t : parts.back().header.tensors)
      if (const auto [at, fresh] = found_in.emplace(t.name, shard); !fresh)
        fail_input("{}: tensor {} is also in {}", parts.back().file.name(), quote(t.name), quote(at->second));
  }
  for (const auto& [name, shard] : shard_of)
    if (const auto at = found_in.find(name); at == found_in.end() || at->second != shard)
      fail_input("{}: weight_map says that tensor {} is in {}, but it is {}", path.string(), quote(name), quote(shard),
                 at == found_in.end() ? "in no shard" : "in " + quote(at->second));
  return parts;
}

}  // namespace ridge::io
