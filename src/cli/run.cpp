// ridge run: one prompt, or a chat, and what each stage took beside what it could have taken.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/format.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/run_summary.h"
#include "cli/sampling_flags.h"
#include "cli/verb.h"
#include "engine/generate.h"
#include "io/find_model.h"
#include "measure/memory.h"
#include "measure/timer.h"
#include "model/text.h"
#include "text/chat_encode.h"

namespace ridge::cli {
namespace {

struct RunFlags {
  std::string prompt, system, template_name;
  bool has_prompt = false, raw = false, truncate = false, control = false, no_stats = false;
  std::int64_t batch_tokens = 512;
};

class Session {  // a loaded model and what turns text into its tokens
 public:
  Session(const ModelFlags& flags, const RunFlags& run, const CommonFlags& common, const SamplingFlags& sampling)
      : run_(run), common_(common), threads_(flags.thread_count()), pool_(threads_) {
    model::Description d = model::open(io::find_model(flags.model));
    tokenizer_.emplace(model::load_tokenizer(*d.files));
    const model::GenerationDefaults defaults = model::generation_defaults(*d.files);
    params_ = sampling.resolved(defaults);
    if (!run.raw) load_templates(d);
    capacity_ =
        engine::checked({.context = flags.load_options(d.config, 4096).context, .batch_tokens = run.batch_tokens});
    end_tokens_.assign(tokenizer_->end_ids().begin(), tokenizer_->end_ids().end());
    end_tokens_.insert(end_tokens_.end(), defaults.end_ids.begin(), defaults.end_ids.end());
    base_bytes_ = measure::peak_memory_bytes().value_or(0);
    const model::LoadOptions options =
        engine::for_generation(flags.load_options(d.config, 4096), capacity_, d.config.vocab);
    std::erase_if(end_tokens_, [&](std::int32_t id) { return id >= d.config.vocab; });
    loaded_.emplace(std::move(d), options, pool_);
    runner_.emplace(*loaded_, capacity_);
    engine_.emplace(*runner_, end_tokens_);
    load_s_ = since_start_.seconds();
  }

  std::vector<std::int32_t> tokens_of(const std::vector<text::Message>& messages) const {
    if (run_.raw)
      return engine::prompt_of(tokenizer_->encode(
          messages.back().content,
          {.wrap = text::Wrap::post_processed, .control = run_.control ? text::Control::token : text::Control::text}));
    text::ChatRequest request{.messages = text::to_value(messages),
                              .add_generation_prompt = true,
                              .now = text::local_time(std::time(nullptr))};
    return engine::prompt_of(
        text::encode_chat(*tokenizer_, *templates_, request, run_.control ? text::Control::token : text::Control::text)
            .ids);
  }

  // Generates the answer and streams it to standard output unless JSON is wanted.
  engine::Generation answer(std::vector<std::int32_t> prompt) {
    if (run_.truncate) {
      const std::int64_t cut = engine::keep_last_tokens(prompt, capacity_.context, params_.max_tokens);
      if (cut > 0) log_warning("the prompt was cut by its first {} tokens to fit the context", cut);
    }
    log_ = {};
    const double asked_s = answered_ ? since_start_.seconds() : 0;  // a first answer counts from the process' start
    bool first = true;
    answered_ = true;
    const bool stream = !common_.json;
    engine::Watch watch{.on_text =
                            [&](std::size_t, std::string_view text) {
                              if (!stream) return;
                              std::fwrite(text.data(), 1, text.size(), stdout);
                              std::fflush(stdout);
                            },
                        .on_step =
                            [&](const engine::StepReport& report, double seconds) {
                              if (first && report.rows > 0) {
                                first_token_s_ = since_start_.seconds() - asked_s;
                                first = false;
                              }
                              log_.add(report, seconds);
                            },
                        .interrupted = [] { return interrupted(); }};
    const engine::TextOptions options{.position = run_.raw ? text::Position::middle : text::Position::start};
    auto generated = engine::generate(
        *engine_, *tokenizer_, {{std::move(prompt), params_}}, [&] { return since_start_.seconds(); }, watch, options);
    if (stream) std::fputs("\n", stdout);
    std::fflush(stdout);
    return std::move(generated.each[0]);
  }

  Summary summary() const {
    const std::int64_t peak = measure::peak_memory_bytes().value_or(0);  // before ceilings may have to be measured
    const hw::Ceilings ceilings = ceilings_of(loaded_->options(), threads_);
    return {.prefill = priced_stage(log_, true, *loaded_, ceilings, threads_),
            .decode = priced_stage(log_, false, *loaded_, ceilings, threads_),
            .load_s = load_s_,
            .first_token_s = first_token_s_,
            .peak_bytes = peak,
            .predicted_bytes = predicted_bytes()};
  }

 private:
  void load_templates(const model::Description& d) {
    text::ChatTemplateSource source = model::chat_template_source(*d.files, &*tokenizer_);
    if (!run_.template_name.empty()) {
      const std::string_view named = text::named_template(run_.template_name);
      if (named.empty()) fail_input("--template '{}': there is no such template; there is chatml", run_.template_name);
      source.templates = {{"default", std::string(named)}};
    }
    if (source.templates.empty())
      fail_input("{}: holds no chat template; --raw runs without one, --template chatml uses that one", d.path);
    templates_.emplace(std::move(source));
  }

  // What the memory plan says for this generation, and what the process had before it loaded the weights.
  std::int64_t predicted_bytes() const {
    const model::MemoryUse m = loaded_->memory();
    std::int64_t most_tokens = 1, longest = 0;
    for (const auto& e : log_.steps) {
      most_tokens = std::max(most_tokens, e.prompt_tokens + e.generation_tokens);
      for (const ir::Span& s : e.spans) longest = std::max(longest, s.past + s.queries);
    }
    const auto blocks = engine::blocks_for(longest, capacity_.block_tokens);
    const std::int64_t states = m.states / std::max<std::int64_t>(1, capacity_.blocks()) * blocks;
    const Sizes used{most_tokens, 1, 1};
    return base_bytes_ + m.weights + states + program::plan_memory(loaded_->program(), used, 0).arena_bytes;
  }

  measure::Timer since_start_;
  RunFlags run_;
  CommonFlags common_;
  engine::SamplingParams params_;
  int threads_;
  std::int64_t base_bytes_ = 0;
  ThreadPool pool_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<text::ChatTemplates> templates_;
  engine::Capacity capacity_;
  std::vector<std::int32_t> end_tokens_;
  std::optional<model::Loaded> loaded_;
  std::optional<engine::Runner> runner_;
  std::optional<engine::Engine> engine_;
  StepLog log_;
  bool answered_ = false;
  double load_s_ = 0, first_token_s_ = 0;
};

std::string read_all(std::istream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

std::vector<text::Message> opening(const RunFlags& run) {
  std::vector<text::Message> messages;
  if (!run.system.empty()) messages.push_back({"system", run.system});
  return messages;
}

void report_json(const engine::Generation& g, const Summary& s) {
  Report report = make_report("run");
  report.section("", "")
      .add("text", "text", g.text)
      .add("ids", "ids", std::vector<std::int64_t>(g.tokens.begin(), g.tokens.end()))
      .add("finish_reason", "finish reason", std::string(name(g.finish)))
      .add("stop", "stop string", g.stop.empty() ? Cell() : Cell(g.stop))
      .add("prompt_tokens", "prompt tokens", g.prompt_tokens, Unit::count)
      .add("generated_tokens", "generated tokens", std::int64_t(g.tokens.size()), Unit::count);
  add_to(report, s);
  print(report, OutputForm::json);
}

int one_shot(Session& session, const RunFlags& run, const CommonFlags& common) {
  std::vector<text::Message> messages = opening(run);
  messages.push_back({"user", run.has_prompt ? run.prompt : read_all(std::cin)});
  const engine::Generation g = session.answer(session.tokens_of(messages));
  if (g.finish == engine::FinishReason::error) fail_machine("{}", g.error);
  if (common.json) report_json(g, session.summary());
  else if (!run.no_stats) fmt::print(stderr, "\n{}\n", text_of(session.summary()));
  if (g.finish == engine::FinishReason::cancelled) log_info("interrupted: the text up to there is kept");
  return exit_done;
}

int chat(Session& session, const RunFlags& run) {
  std::vector<text::Message> messages = opening(run);
  fmt::print(stderr, "chat: an empty line or ^D ends it, ^C stops an answer\n");
  for (std::string line;;) {
    fmt::print(stderr, "> ");
    if (!std::getline(std::cin, line) || line.empty()) return exit_done;
    forget_interrupt();
    messages.push_back({"user", line});
    try {
      const engine::Generation g = session.answer(session.tokens_of(messages));
      if (g.finish == engine::FinishReason::error) fail_machine("{}", g.error);
      messages.push_back({"assistant", g.text});
      if (!run.no_stats) fmt::print(stderr, "{}\n", text_of(session.summary()));
    } catch (const Error& e) {  // too long a history, say: the chat goes on without this turn
      if (e.fault() == Fault::bug) throw;
      log_error("{}", e.what());
      messages.pop_back();
    }
    forget_interrupt();
  }
}

}  // namespace

int run_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Answers a prompt through the model's chat template, reads one from standard input, or chats on a terminal.\n"
      "Ends with what each stage took beside its bound on this machine.\n"
      "examples: ridge run model.gguf --prompt 'Why is the sky blue?'\n"
      "          ridge run model.gguf --raw --prompt 'Once upon a time' --max-tokens 64 --temperature 0.8 --seed 7\n"
      "          ridge run model.gguf < question.txt          ridge run model.gguf --json --prompt Hi",
      "run");
  CommonFlags common;
  ModelFlags flags;
  RunFlags run;
  SamplingFlags sampling;
  common.add_to(app);
  flags.add_to(app);
  CLI::Option* prompt = app.add_option("-p,--prompt", run.prompt,
                                       "the prompt; without it standard input is read, or a chat begins on a terminal");
  app.add_option("--system", run.system, "the system message");
  app.add_flag("--raw", run.raw, "the prompt as it is, without the chat template");
  app.add_option("--template", run.template_name, "a template by name instead of the model's: chatml");
  app.add_flag("--control", run.control, "let control strings in the prompt become control tokens");
  app.add_flag("--truncate", run.truncate, "cut a prompt that is too long to its last tokens instead of refusing it");
  app.add_option("--batch-tokens", run.batch_tokens, "most tokens of a step: long prompts run in chunks")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("--no-stats", run.no_stats, "no line about speed and memory at the end");
  sampling.add_to(app);
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  run.has_prompt = prompt->count() > 0;
  if (run.raw && !run.template_name.empty()) fail_input("--raw and --template exclude each other");
  if (run.raw && !run.system.empty())
    fail_input("--raw and --system exclude each other: there is no template to put it in");
  const bool interactive = !run.has_prompt && isatty(STDIN_FILENO) != 0;
  if (interactive && (common.json || run.raw))
    fail_input("--json and --raw need a --prompt, or text on standard input");

  Session session(flags, run, common, sampling);
  return interactive ? chat(session, run) : one_shot(session, run, common);
}

}  // namespace ridge::cli
