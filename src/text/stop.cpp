#include "text/stop.h"

#include <algorithm>
#include <utility>

namespace ridge::text {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, std::string());
  std::sort(stops_.begin(), stops_.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string StopMatcher::push(std::string_view piece) {
  if (stop_) return {};
  const std::size_t seen = held_.size();
  held_ += piece;
  for (std::size_t end = seen + 1; end <= held_.size(); ++end) {
    for (const std::string& stop : stops_) {
      if (!std::string_view(held_).substr(0, end).ends_with(stop)) continue;
      stop_ = stop;
      std::string out = held_.substr(0, end - stop.size());
      held_.clear();
      return out;
    }
  }
  const std::size_t held = held_size();
  std::string out = held_.substr(0, held_.size() - held);
  held_.erase(0, held_.size() - held);
  return out;
}

std::string StopMatcher::finish() { return std::exchange(held_, {}); }

std::size_t StopMatcher::held_size() const {
  const std::size_t most = stops_.empty() ? 0 : stops_[0].size() - 1;
  for (std::size_t n = std::min(most, held_.size()); n > 0; --n) {
    const std::string_view end = std::string_view(held_).substr(held_.size() - n);
    for (const std::string& stop : stops_)
      if (stop.size() > n && stop.starts_with(end)) return n;
  }
  return 0;
}

}  // namespace ridge::text
