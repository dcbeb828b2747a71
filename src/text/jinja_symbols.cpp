#include "text/jinja_symbols.h"

#include "base/error.h"

namespace ridge::text::jinja {

int Unit::slot(int level, const std::string& name) {
  auto [place, fresh] = slots.try_emplace({level, name}, scope->slot_count);
  if (fresh) ++scope->slot_count;
  return place->second;
}

const Reference* Symbols::find(const std::string& name) const {
  for (const Symbols* scope = this; scope; scope = scope->parent_) {
    auto place = scope->refs_.find(name);
    if (place != scope->refs_.end()) return &place->second;
  }
  return nullptr;
}

void Symbols::define(const std::string& name, Entry entry) {
  Reference reference{unit_, unit_->slot(level_, name)};
  refs_[name] = reference;
  loads_[reference.slot] = std::move(entry);
}

void Symbols::load(const std::string& name) {
  if (!find(name)) define(name, {How::resolve, name, {}});
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (refs_.contains(name)) return;
  const Reference* outer = parent_ ? parent_->find(name) : nullptr;
  if (outer) define(name, {How::alias, name, *outer});
  else define(name, {How::clear, name, {}});
}

void Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  define(name, {How::parameter, name, {}});
}

void Symbols::merge_branches(const std::vector<Symbols>& branches) {
  std::set<std::string> fresh;
  for (const Symbols& branch : branches)
    for (const std::string& name : branch.stores_)
      if (!stores_.contains(name)) fresh.insert(name);
  for (const Symbols& branch : branches) {
    for (const auto& [name, reference] : branch.refs_) refs_[name] = reference;
    for (const auto& [slot, entry] : branch.loads_) loads_[slot] = entry;
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  for (const std::string& name : fresh) {
    const Reference* outer = parent_ ? parent_->find(name) : nullptr;
    loads_[find(name)->slot] = outer ? Entry{How::alias, name, *outer} : Entry{How::resolve, name, {}};
  }
}

Slot Symbols::slot_of(const Reference& reference, const Unit& from, int line) const {
  Slot slot{0, reference.slot};
  for (const Unit* unit = &from; unit != reference.unit; unit = unit->parent) {
    if (!unit) fail_bug("chat template, line {}: a variable's function does not enclose its use", line);
    ++slot.outward;
  }
  return slot;
}

std::vector<Load> Symbols::entry_loads(const Unit& from) const {
  std::vector<Load> loads;
  for (const auto& [slot, entry] : loads_) {
    Load load;
    load.target = slot;
    load.name = entry.name;
    switch (entry.how) {
      case How::parameter: continue;
      case How::resolve: load.kind = LoadKind::resolve; break;
      case How::clear: load.kind = LoadKind::clear; break;
      case How::alias:
        load.kind = LoadKind::alias;
        load.source = slot_of(entry.source, from, 0);
        break;
    }
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace ridge::text::jinja
