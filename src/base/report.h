// What a verb has to say, before anyone decides how it is shown: sections of named values, tables, notes, in order.
// Two printers read it: base/table.h (text for people) and base/json_print.h. Values are in base units (bytes, seconds,
// FLOP, fractions of 1); a key carries its unit (`memory_bytes`, `prefill_tokens_per_s`), a title does not.
#pragma once
#include <concepts>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/format.h"

namespace ridge {

class Cell {
 public:
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                             std::vector<double>, std::vector<std::string>>;
  Cell() = default;  // unknown: "–" in text, null in JSON
  Cell(bool v) : value(v) {}
  Cell(std::integral auto v) : value(std::int64_t(v)) {}
  Cell(std::floating_point auto v) : value(double(v)) {}
  Cell(const char* v) : value(std::string(v)) {}
  Cell(std::string_view v) : value(std::string(v)) {}
  Cell(std::string v) : value(std::move(v)) {}
  Cell(std::vector<std::int64_t> v) : value(std::move(v)) {}
  Cell(std::vector<double> v) : value(std::move(v)) {}
  Cell(std::vector<std::string> v) : value(std::move(v)) {}
  template <class T> Cell(const std::optional<T>& v) {
    if (v) *this = Cell(*v);
  }

  Value value;
};

enum class Show : std::uint8_t { both, text_only, json_only };

struct Field {
  std::string key, title;
  Cell value;
  Unit unit = Unit::none;
  Show show = Show::both;
};

struct Section {
  std::string key;    // the name of the JSON object; empty: its fields stand at the top level
  std::string title;  // a heading; may be empty
  std::vector<Field> fields;

  Section& add(std::string field_key, std::string field_title, Cell value, Unit unit = Unit::none,
               Show show = Show::both) {
    fields.push_back({std::move(field_key), std::move(field_title), std::move(value), unit, show});
    return *this;
  }
};

struct Column {
  std::string key, title;
  Unit unit = Unit::none;
  Show show = Show::both;
};

struct Table {
  std::string key;  // the name of the JSON array of objects
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;     // each as long as `columns`
  std::optional<std::vector<Cell>> total;  // under a rule; in JSON `<key>_total`

  void row(std::vector<Cell> cells) { rows.push_back(std::move(cells)); }
};

struct Note {  // a sentence to the reader; in JSON an entry of "notes"
  std::string text;
};

struct Report {
  std::string verb;
  Section environment{"environment", "", {}};            // hw::environment() fills it; JSON only
  std::deque<std::variant<Section, Table, Note>> items;  // a deque: references from section() and table() stay valid

  explicit Report(std::string verb_name) : verb(std::move(verb_name)) {}
  Section& section(std::string key, std::string title) {
    return std::get<Section>(items.emplace_back(Section{std::move(key), std::move(title), {}}));
  }
  Table& table(std::string key, std::string title, std::vector<Column> columns) {
    return std::get<Table>(items.emplace_back(Table{std::move(key), std::move(title), std::move(columns), {}, {}}));
  }
  void note(std::string text) { items.emplace_back(Note{std::move(text)}); }
};

}  // namespace ridge
