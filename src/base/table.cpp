#include "base/table.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_print.h"

namespace ridge {
namespace {

constexpr std::size_t list_entries_shown = 8;
constexpr std::string_view gap = "  ";

template <class T> std::string list_text(const std::vector<T>& list, Unit unit) {
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(list.size(), list_entries_shown); ++i) {
    if (i) out += ", ";
    out += cell_text(Cell(list[i]), unit);
  }
  if (list.size() > list_entries_shown) out += fmt::format(", … {} in all", format_count(std::int64_t(list.size())));
  return out + "]";
}

struct CellText {
  Unit unit;
  std::string operator()(std::monostate) const { return "–"; }
  std::string operator()(bool v) const { return v ? "yes" : "no"; }
  std::string operator()(std::int64_t v) const {
    return unit == Unit::none || unit == Unit::count ? format_count(v) : format_quantity(double(v), unit);
  }
  std::string operator()(double v) const { return format_quantity(v, unit); }
  std::string operator()(const std::string& v) const { return printable(v); }
  template <class T> std::string operator()(const std::vector<T>& v) const { return list_text(v, unit); }
};

bool is_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell.value) ||
         std::holds_alternative<std::vector<std::string>>(cell.value);
}

std::string padding(int width) { return std::string(std::size_t(std::max(width, 0)), ' '); }

struct Grid {  // one printed column
  std::vector<std::string> cells;
  int width = 0;
  bool left = false;

  void add(std::string text) {
    width = std::max(width, display_width(text));
    cells.push_back(std::move(text));
  }
};

std::string line(const std::vector<Grid>& grid, std::size_t row) {
  std::string out;
  for (const Grid& column : grid) {
    const std::string& cell = column.cells[row];
    const std::string pad = padding(column.width - display_width(cell));
    out += gap;
    out += column.left ? cell + pad : pad + cell;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::vector<Grid> grid_of(const Table& table) {
  std::vector<Grid> grid;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (column.show == Show::json_only) continue;
    Grid& g = grid.emplace_back();
    g.left = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return is_text(row[c]); });
    g.add(column.title);
    for (const auto& row : table.rows) g.add(cell_text(row[c], column.unit));
    if (table.total) g.add((*table.total)[c].value.index() == 0 ? "" : cell_text((*table.total)[c], column.unit));
  }
  return grid;
}

}  // namespace

std::string cell_text(const Cell& cell, Unit unit) { return std::visit(CellText{unit}, cell.value); }

std::string text_of(const Section& section) {
  int width = 0;
  for (const Field& f : section.fields)
    if (f.show != Show::json_only) width = std::max(width, display_width(f.title));
  std::string out = section.title.empty() ? "" : section.title + "\n";
  for (const Field& f : section.fields) {
    if (f.show == Show::json_only) continue;
    out += fmt::format("{}{}{}{}{}\n", gap, f.title, padding(width - display_width(f.title)), gap,
                       cell_text(f.value, f.unit));
  }
  return out;
}

std::string text_of(const Table& table) {
  for (const auto& row : table.rows)
    if (row.size() != table.columns.size())
      fail_bug("table {}: a row of {} cells for {} columns", table.key, row.size(), table.columns.size());
  if (table.total && table.total->size() != table.columns.size())
    fail_bug("table {}: its total has {} cells", table.key, table.total->size());
  const std::vector<Grid> grid = grid_of(table);
  std::string out = table.title.empty() ? "" : table.title + "\n";
  out += line(grid, 0);
  for (std::size_t r = 1; r <= table.rows.size(); ++r) out += line(grid, r);
  if (table.total) {
    int width = 0;
    for (const Grid& g : grid) width += g.width + int(gap.size());
    out += std::string(gap);
    for (int i = int(gap.size()); i < width; ++i) out += "─";
    out += "\n";
    out += line(grid, table.rows.size() + 1);
  }
  return out;
}

std::string text_of(const Report& report) {
  std::string out;
  bool after_note = false;
  for (const auto& item : report.items) {
    std::string text;
    if (const auto* section = std::get_if<Section>(&item)) text = text_of(*section);
    if (const auto* table = std::get_if<Table>(&item)) text = text_of(*table);
    const auto* note = std::get_if<Note>(&item);
    if (note) text = note->text + "\n";
    const bool together = note && after_note;  // notes that follow each other are one paragraph
    if (!out.empty() && !text.empty() && !together) out += "\n";
    out += text;
    after_note = note != nullptr;
  }
  return out;
}

void print(const Report& report, OutputForm form, std::FILE* out) {
  const std::string text = form == OutputForm::json ? json_of(report) + "\n" : text_of(report);
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0)
    fail_machine("cannot write the report: the output is closed or full");
}

}  // namespace ridge
