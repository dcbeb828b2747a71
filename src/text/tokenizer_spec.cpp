#include "text/tokenizer_spec.h"

#include <algorithm>
#include <cstring>

namespace ridge::text {

char* TextArena::allocate(std::size_t size) {
  constexpr std::size_t chunk = 256 * 1024;
  if (size > left_) {
    left_ = std::max(size, chunk);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    at_ = chunks_.back().get();
  }
  char* p = at_;
  at_ += size;
  left_ -= size;
  return p;
}

std::string_view TextArena::add(std::string_view text) {
  char* p = allocate(text.size() + 1);  // never null, also for an empty text
  if (!text.empty()) std::memcpy(p, text.data(), text.size());
  return {p, text.size()};
}

}  // namespace ridge::text
