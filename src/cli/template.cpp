// ridge template: for checking a chat template against another implementation.
#include <CLI/CLI.hpp>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "io/find_model.h"
#include "io/json_bounded.h"
#include "io/template_json.h"
#include "io/tokenizer_gguf.h"
#include "model/text.h"

namespace ridge::cli {
namespace {

using Json = nlohmann::ordered_json;

text::Value value_of(const Json& json) { return io::template_value_from_json(json.dump(), "standard input"); }

text::ChatRequest request_of(const Json& line, const std::string& where) {
  if (!line.is_object() || !line.contains("messages") || !line["messages"].is_array())
    fail_input("{}: must be an object with a list \"messages\"", where);
  text::ChatRequest request;
  request.messages = value_of(line["messages"]);
  if (line.contains("tools")) request.tools = value_of(line["tools"]);
  if (line.contains("documents")) request.documents = value_of(line["documents"]);
  request.add_generation_prompt = line.value("add_generation_prompt", false);
  if (line.contains("template") && line["template"].is_string())
    request.template_name = line["template"].get<std::string>();
  if (line.contains("extra")) {
    if (!line["extra"].is_object()) fail_input("{}: \"extra\" must be an object", where);
    for (const auto& [name, value] : line["extra"].items()) request.extra.set(name, value_of(value));
  }
  request.now = text::local_time(std::time(nullptr));
  return request;
}

Json render(const text::ChatTemplates& templates, const std::string& line, const std::string& where) {
  try {
    return {{"text", templates.render(request_of(
                         io::parse_json(
                             line, where,
                             {.bytes = std::size_t(1) << 28, .depth = 200, .duplicates = io::DuplicateKeys::keep_last}),
                         where))}};
  } catch (const Error& e) {  // one bad line does not end the others
    if (e.fault() == Fault::bug) throw;
    return {{"error", e.what()}};
  } catch (const nlohmann::json::exception& e) {
    return {{"error", fmt::format("{}: {}", where, e.what())}};
  }
}

}  // namespace

int template_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Renders conversations with a model's chat template, a JSON object a line:\n"
      "in {\"messages\", \"tools\", \"add_generation_prompt\", \"template\" (a name), \"extra\" (variables)}, out "
      "{\"text\"} or {\"error\"}.\n"
      "example: echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}' | ridge template model.gguf --jsonl",
      "template");
  CommonFlags common;
  std::string model;
  bool lines = false;
  common.add_to(app);
  app.add_option("MODEL", model, "a model, or a file or folder that holds only a template")->required();
  app.add_flag("--jsonl", lines,
               "read conversations from standard input; without it the templates' sources are printed");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  const io::ModelFiles files = io::ModelFiles::open(io::find_model(model));
  const bool needs_tokenizer = files.gguf() && io::has_tokenizer(*files.gguf());  // whose tokens the template may name
  const std::optional<text::Tokenizer> tokenizer =
      needs_tokenizer ? std::optional(model::load_tokenizer(files)) : std::nullopt;
  text::ChatTemplateSource source = model::chat_template_source(files, tokenizer ? &*tokenizer : nullptr);
  if (source.templates.empty()) fail_input("{}: holds no chat template", model);
  if (!lines) {
    Report report = make_report("template");
    Table& table = report.table("templates", "", {{"name", "name"}, {"source", "source"}});
    for (const auto& t : source.templates) table.row({t.name, common.json ? t.source : printable(t.source)});
    print(report, common.form());
    return exit_done;
  }
  const text::ChatTemplates templates(std::move(source));
  std::int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string where = fmt::format("standard input, line {}", ++number);
    if (!line.empty())
      std::cout << render(templates, line, where).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  return exit_done;
}

}  // namespace ridge::cli
