// ridge tokenize: for checking a tokenizer against another implementation.
#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "io/find_model.h"
#include "io/json_bounded.h"
#include "model/text.h"

namespace ridge::cli {
namespace {

constexpr io::JsonLimits line_limits{.bytes = std::size_t(1) << 30, .values = 1000, .depth = 4};

void print_json(const nlohmann::ordered_json& json) {
  std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

// Each line {"text": ...} becomes {"ids": [...], "decoded": "..."}.
void tokenize_lines(const text::Tokenizer& tokenizer, const text::EncodeOptions& options) {
  std::int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (line.empty()) continue;
    const std::string where = fmt::format("standard input, line {}", number);
    const auto json = io::parse_json(line, where, line_limits);
    if (!json.is_object() || !json.contains("text") || !json["text"].is_string())
      fail_input("{}: must be an object with a string \"text\"", where);
    const std::vector<text::TokenId> ids = tokenizer.encode(json["text"].get_ref<const std::string&>(), options);
    print_json({{"ids", ids}, {"decoded", tokenizer.decode(ids)}});
  }
}

}  // namespace

int tokenize_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Text from standard input to token ids (a JSON array).\n"
      "examples: echo -n 'Hello' | ridge tokenize model.gguf\n"
      "          ridge tokenize tokenizer.json --jsonl < texts.jsonl     {\"text\"} in, {\"ids\", \"decoded\"} out, a "
      "line each",
      "tokenize");
  CommonFlags common;
  std::string model;
  bool lines = false, special = false, control = false;
  common.add_to(app);
  app.add_option("MODEL", model, "a model, or a file or folder that holds only a tokenizer")->required();
  app.add_flag("--jsonl", lines, "a JSON object a line instead of one text");
  app.add_flag("--special", special,
               "add what the model's post-processor adds (a beginning-of-sequence token, mostly)");
  app.add_flag("--control", control, "let control strings in the text become control tokens");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  const io::ModelFiles files = io::ModelFiles::open(io::find_model(model));
  const text::Tokenizer tokenizer = model::load_tokenizer(files);
  const text::EncodeOptions options{.wrap = special ? text::Wrap::post_processed : text::Wrap::none,
                                    .control = control ? text::Control::token : text::Control::text};
  if (lines) {
    tokenize_lines(tokenizer, options);
    return exit_done;
  }
  const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  const std::vector<text::TokenId> ids = tokenizer.encode(input, options);
  if (!common.json) {
    print_json(ids);
    return exit_done;
  }
  Report report = make_report("tokenize");
  report.section("", "")
      .add("ids", "ids", std::vector<std::int64_t>(ids.begin(), ids.end()))
      .add("count", "tokens", std::int64_t(ids.size()), Unit::count)
      .add("decoded", "decoded", tokenizer.decode(ids));
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
