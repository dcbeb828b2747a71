// ridge perplexity: windows of a text, each on its own, as the field measures it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/load_for_steps.h"
#include "cli/step.h"
#include "cli/verb.h"
#include "io/mapped_file.h"
#include "model/text.h"

namespace ridge::cli {
namespace {

// -log p(id), from a row of logits.
double negative_log_likelihood(const float* row, std::int64_t vocab, std::int32_t id) {
  const float most = *std::max_element(row, row + vocab);
  double sum = 0;
  for (std::int64_t i = 0; i < vocab; ++i) sum += std::exp(double(row[i]) - most);
  return std::log(sum) + most - row[id];
}

std::string read_text(const std::string& path) {
  const io::MappedFile file(path);  // refuses what is no regular file
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

int perplexity_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Perplexity of a text in windows of --context tokens, each on its own, without a beginning-of-sequence token "
      "unless the\n"
      "model's tokenizer adds one: over all positions, and over the tokens of the second half of each window "
      "(llama-perplexity\n"
      "prints that, but for the first of these tokens).\n"
      "example: ridge perplexity model.gguf text.txt --context 512",
      "perplexity");
  CommonFlags common;
  ModelFlags flags;
  std::string text_file;
  std::int64_t most_windows = 0;
  common.add_to(app);
  flags.add_to(app);
  app.add_option("FILE", text_file, "UTF-8 text")->required();
  app.add_option("--windows", most_windows, "only the first N windows; default: all");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  const std::int64_t window = flags.context > 0 ? flags.context : 512;
  if (window < 2) fail_input("--context {}: a window needs at least 2 tokens", window);
  flags.context = window;

  ThreadPool pool(flags.thread_count());
  const auto model = load_for_steps(flags, {.longest = window, .tokens = window, .rows = Rows::all}, pool);
  const text::Tokenizer tokenizer = model::load_tokenizer(*model->description().files);
  const std::span<const text::TokenId> lead_ids = tokenizer.prefix();  // a beginning-of-sequence token, mostly none
  const std::vector<text::TokenId> ids = tokenizer.encode(read_text(text_file));
  const std::int64_t lead = std::int64_t(lead_ids.size()), fresh = window - lead;
  if (fresh < 1) fail_input("--context {}: the tokenizer alone adds {} tokens", window, lead);
  std::int64_t windows = std::int64_t(ids.size()) / fresh;
  if (windows == 0) fail_input("{}: {} tokens; a window takes {}", text_file, ids.size(), fresh);
  if (most_windows > 0) windows = std::min(windows, most_windows);

  Stepper sequence(*model);
  double all = 0, half = 0;
  std::int64_t all_count = 0, half_count = 0, done = 0;
  Progress progress("perplexity", windows);
  for (; done < windows && !interrupted(); ++done, progress.advance()) {
    std::vector<std::int32_t> part(lead_ids.begin(), lead_ids.end());
    part.insert(part.end(), ids.begin() + done * fresh, ids.begin() + (done + 1) * fresh);
    sequence.restart();
    sequence.append(part, Want::all_rows);
    const View logits = sequence.logits();
    std::vector<double> nll(part.size() - 1);  // nll[i] is of token i + 1
    pool.parallel_for(std::int64_t(nll.size()), [&](std::int64_t i, int) {
      nll[std::size_t(i)] =
          negative_log_likelihood(logits.row_as<float>(i), logits.columns(), part[std::size_t(i) + 1]);
    });
    for (std::int64_t i = 0; i < std::int64_t(nll.size()); ++i) {
      if (!std::isfinite(nll[std::size_t(i)]))
        fail_machine(
            "the logits of window {}, position {} are not finite: the model's weights or its arithmetic overflow", done,
            i);
      all += nll[std::size_t(i)], ++all_count;
      if (i + 1 >= window / 2) half += nll[std::size_t(i)], ++half_count;
    }
  }
  Report report = make_report("perplexity");
  report.section("", "")
      .add("perplexity", "perplexity, all positions", std::exp(all / double(std::max<std::int64_t>(1, all_count))))
      .add("perplexity_second_half", "second half of each window",
           std::exp(half / double(std::max<std::int64_t>(1, half_count))))
      .add("windows", "windows", done, Unit::count)
      .add("context", "tokens a window", window, Unit::count)
      .add("text_tokens", "tokens of the text", std::int64_t(ids.size()), Unit::count);
  if (done < windows) report.note("interrupted: the figures are of the windows that were finished");
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
