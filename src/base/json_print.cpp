#include "base/json_print.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace ridge {
namespace {

using Json = nlohmann::ordered_json;

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double v) const { return std::isfinite(v) ? Json(v) : Json(nullptr); }
  template <class T> Json operator()(const T& v) const { return v; }
};

Json json_of(const Cell& cell) { return std::visit(ToJson{}, cell.value); }

void put(Json& object, const std::string& key, Json value) {
  if (object.contains(key)) fail_bug("the report has two values named {}", key);
  object[key] = std::move(value);
}

void put_fields(Json& object, const std::vector<Field>& fields) {
  for (const Field& f : fields)
    if (f.show != Show::text_only) put(object, f.key, json_of(f.value));
}

Json row_json(const Table& table, const std::vector<Cell>& row) {
  if (row.size() != table.columns.size())
    fail_bug("table {}: a row of {} cells for {} columns", table.key, row.size(), table.columns.size());
  Json out = Json::object();
  for (std::size_t c = 0; c < row.size(); ++c)
    if (table.columns[c].show != Show::text_only) put(out, table.columns[c].key, json_of(row[c]));
  return out;
}

void put_table(Json& object, const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) rows.push_back(row_json(table, row));
  put(object, table.key, std::move(rows));
  if (table.total) put(object, table.key + "_total", row_json(table, *table.total));
}

void put_section(Json& object, const Section& section) {
  if (section.key.empty()) return put_fields(object, section.fields);
  Json inner = Json::object();
  put_fields(inner, section.fields);
  put(object, section.key, std::move(inner));
}

}  // namespace

std::string json_of(const Report& report) {
  Json out = Json::object();
  out["schema_version"] = report_schema_version;
  out["verb"] = report.verb;
  put_section(out, report.environment);
  Json notes = Json::array();
  for (const auto& item : report.items) {
    if (const auto* section = std::get_if<Section>(&item)) put_section(out, *section);
    if (const auto* table = std::get_if<Table>(&item)) put_table(out, *table);
    if (const auto* note = std::get_if<Note>(&item)) notes.push_back(note->text);
  }
  if (!notes.empty()) put(out, "notes", std::move(notes));
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ridge
