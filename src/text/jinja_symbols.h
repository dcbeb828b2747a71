// The names of one scope of a template while it is bound. Mirrors jinja2.idtracking.Symbols.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja_ast.h"

namespace ridge::text::jinja {

// A function of the template: owns slots. Scopes of one function at the same level share slots of the same name.
struct Unit {
  Unit* parent = nullptr;
  FunctionScope* scope = nullptr;
  std::map<std::pair<int, std::string>, int> slots;

  int slot(int level, const std::string& name);
};

struct Reference {
  const Unit* unit = nullptr;
  int slot = -1;
};

class Symbols {
 public:
  Symbols(const Symbols* parent, Unit& unit) : parent_(parent), level_(parent ? parent->level_ + 1 : 0), unit_(&unit) {}

  const Reference* find(const std::string& name) const;
  void load(const std::string& name);
  void store(const std::string& name);
  void declare_parameter(const std::string& name);
  // Takes over what the branches of an `if` (copies of this) have found. A name that only branches assign is looked up
  // outside first.
  void merge_branches(const std::vector<Symbols>& branches);

  std::vector<Load> entry_loads(const Unit& from) const;  // what entering the scope does, seen from a function
  Slot slot_of(const Reference& reference, const Unit& from, int line) const;
  Unit& unit() const { return *unit_; }
  std::size_t size() const { return refs_.size(); }

 private:
  enum class How : std::uint8_t { parameter, resolve, alias, clear };
  struct Entry {
    How how;
    std::string name;
    Reference source;
  };
  void define(const std::string& name, Entry entry);

  const Symbols* parent_;
  int level_;
  Unit* unit_;
  std::map<std::string, Reference> refs_;
  std::map<int, Entry> loads_;  // by slot
  std::set<std::string> stores_;
};

}  // namespace ridge::text::jinja
