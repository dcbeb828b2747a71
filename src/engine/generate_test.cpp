#include "engine/generate.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "engine/small_models_test.h"
#include "io/tokenizer_gguf.h"
#include "text/byte_alphabet.h"

namespace ridge::engine {
namespace {

// A byte-level vocabulary: token t stands for pieces[t].
text::Tokenizer tokenizer_of(const std::vector<std::string>& pieces, std::vector<text::AddedToken> added = {}) {
  text::TokenizerSpec spec;
  spec.spelling = text::Spelling::bytes;
  for (const std::string& piece : pieces) {
    std::string spelled;
    text::append_spelling_of(piece, spelled);
    spec.pieces.push_back(spec.storage.add(spelled));
  }
  spec.added = std::move(added);
  spec.decoder = {{.kind = text::DecoderStep::Kind::byte_level}};
  spec.source = "the test";
  return text::Tokenizer(spec);
}

// Each token is followed by the next one, the last by the first.
InMemory in_order(std::size_t size) {
  std::vector<std::int32_t> next;
  for (std::size_t t = 0; t < size; ++t) next.push_back(std::int32_t((t + 1) % size));
  return bigram_model(followed_by(next));
}

constexpr Capacity small{.context = 32, .sequences = 4, .batch_tokens = 16, .block_tokens = 4};

double no_clock() { return 0; }

struct Shown {  // what a caller sees: pieces by prompt
  std::vector<std::vector<std::string>> pieces = std::vector<std::vector<std::string>>(8);
  Watch watch() {
    return {.on_text = [this](std::size_t index, std::string_view text) { pieces[index].emplace_back(text); }};
  }
  std::string text(std::size_t index) const {
    std::string all;
    for (const std::string& p : pieces[index]) all += p;
    return all;
  }
};

TEST(Generate, ShowsWholeCharactersAndAllOfThem) {
  const std::vector<std::string> pieces = {"a", "\xc3", "\xa9", "b", "\xf0\x9f", "\x98", "\x80", "c", "\xe2\x82"};
  const text::Tokenizer tokenizer = tokenizer_of(pieces);
  Machine m(in_order(pieces.size()), small);
  Shown shown;
  const Generated g = generate(m.engine, tokenizer, {{{0}, {.max_tokens = 8}}}, no_clock, shown.watch());
  EXPECT_EQ(g.each[0].text, "éb😀c\uFFFD");  // the last character is cut off by the length
  EXPECT_EQ(shown.pieces[0], (std::vector<std::string>{"é", "b", "😀", "c", "\uFFFD"}));
  EXPECT_EQ(g.each[0].tokens, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(g.each[0].finish, FinishReason::length);
}

TEST(Generate, StopStringsEndTheTextAcrossTokens) {
  const std::vector<std::string> pieces = {"one ", "two", " th", "ree", " fo", "ur ", "five", "."};
  const text::Tokenizer tokenizer = tokenizer_of(pieces);
  Machine m(in_order(pieces.size()), small);
  Shown shown;
  const Generated g = generate(m.engine, tokenizer,
                               {{{0}, {.stop = {"three f"}, .max_tokens = 20}},
                                {{0}, {.stop = {"nothing", "two three five"}, .max_tokens = 6}},
                                {{0}, {.stop = {"our"}, .stop_ids = {5}}},
                                {{5}, {.stop = {"e."}}}},
                               no_clock, shown.watch());
  EXPECT_EQ(g.each[0].text, "two ");
  EXPECT_EQ(g.each[0].stop, "three f");
  EXPECT_EQ(g.each[0].finish, FinishReason::stop);
  EXPECT_EQ(g.each[0].tokens, (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(g.each[1].text, "two three four five");  // what looked like a stop string is not lost
  EXPECT_EQ(g.each[1].finish, FinishReason::length);
  EXPECT_EQ(g.each[2].text, "two three fo");  // the end token has no text
  EXPECT_EQ(g.each[2].stop, "");
  EXPECT_EQ(g.each[3].text, "fiv");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(shown.text(i), g.each[i].text);
  EXPECT_EQ(m.engine.live(), 0u);
}

TEST(Generate, AnEndTokenHasNoText) {
  const std::vector<std::string> pieces = {"x", "y", "z", "<end>"};
  const text::Tokenizer tokenizer = tokenizer_of(pieces, {{.content = "<end>", .id = 3, .special = true}});
  Machine m(in_order(pieces.size()), small, {}, 1, {3});
  const Generated g = generate(m.engine, tokenizer, {{{0}}, {{0}, {.ignore_eos = true, .max_tokens = 5}}}, no_clock);
  EXPECT_EQ(g.each[0].text, "yz");
  EXPECT_EQ(g.each[0].tokens.back(), 3);
  EXPECT_EQ(g.each[0].finish, FinishReason::stop);
  EXPECT_EQ(g.each[1].text, "yzxy");
  const Generated kept = generate(m.engine, tokenizer, {{{0}, {.ignore_eos = true, .max_tokens = 5}}}, no_clock, {},
                                  {.special = text::SpecialTokens::keep});
  EXPECT_EQ(kept.each[0].text, "yz<end>xy");
}

TEST(Generate, AnInterruptKeepsTheText) {
  const std::vector<std::string> pieces = {"a", "b", "c", "d", "\xe2\x82"};
  const text::Tokenizer tokenizer = tokenizer_of(pieces);
  Machine m(in_order(pieces.size()), small);
  Shown shown;
  Watch watch = shown.watch();
  int asked = 0;
  watch.interrupted = [&] { return ++asked > 3; };
  const Generated g = generate(m.engine, tokenizer, {{{0}}, {{2}, {.stop = {"a nice day"}}}}, no_clock, watch);
  EXPECT_EQ(g.each[0].text, "bcd");
  EXPECT_EQ(g.each[0].finish, FinishReason::cancelled);
  EXPECT_EQ(g.each[1].text, "d\uFFFDa");  // held back for a stop string until the end
  EXPECT_EQ(shown.text(1), g.each[1].text);
  EXPECT_EQ(m.engine.live(), 0u);
  EXPECT_EQ(m.engine.pool().free_blocks(), m.engine.pool().blocks());
}

TEST(Generate, ASignalFromAnotherThreadKeepsTheText) {
  const std::vector<std::string> pieces = {"a", "b", "c", "d"};
  const text::Tokenizer tokenizer = tokenizer_of(pieces);
  Machine m(in_order(pieces.size()), small);
  std::string shown;
  Watch watch;
  watch.interrupted = interrupted;
  watch.on_text = [&](std::size_t, std::string_view text) {
    shown += text;
    if (shown == "bc") std::thread([to = pthread_self()] { pthread_kill(to, SIGINT); }).join();
  };
  catch_interrupts();
  const Generated g = generate(m.engine, tokenizer, {{{0}}}, no_clock, watch);
  for (int number : {SIGINT, SIGTERM}) signal(number, SIG_DFL);
  EXPECT_TRUE(interrupted());
  forget_interrupt();
  EXPECT_EQ(g.each[0].text, "bc");
  EXPECT_EQ(g.each[0].finish, FinishReason::cancelled);
  EXPECT_EQ(m.engine.pool().free_blocks(), m.engine.pool().blocks());
}

TEST(Generate, TimesComeFromTheClockThatIsHandedIn) {
  const text::Tokenizer tokenizer = tokenizer_of({"a", "b", "c", "d"});
  Machine m(in_order(4), {.context = 32, .batch_tokens = 4, .block_tokens = 4});
  double now = 100;
  Watch watch;
  int steps = 0;
  watch.on_step = [&](const StepReport& step, double seconds) {
    EXPECT_EQ(seconds, 1.0);
    EXPECT_EQ(step.spans.size(), 1u);
    ++steps;
  };
  // The clock is read at the start, then before and after each step: 1 s a reading.
  const Generated g = generate(
      m.engine, tokenizer, {{std::vector<std::int32_t>(10, 1), {.max_tokens = 3}}}, [&] { return now++; }, watch);
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(g.prompt_tokens, 10);
  EXPECT_EQ(g.prompt_s, 3);  // chunks of 4, 4 and 2
  EXPECT_EQ(g.generation_tokens, 2);
  EXPECT_EQ(g.generation_s, 2);
  EXPECT_EQ(g.each[0].token_s, (std::vector<double>{6, 8, 10}));
  EXPECT_EQ(g.each[0].prompt_tokens, 10);
}

TEST(Generate, ABadPromptIsNamedAndNothingRuns) {
  const text::Tokenizer tokenizer = tokenizer_of({"a", "b"});
  Machine m(in_order(2), small);
  try {
    generate(m.engine, tokenizer, {{{0}}, {{2}}}, no_clock);
    FAIL() << "token 2 of a vocabulary of 2 was accepted";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "prompt 2: token 0 of the prompt is 2; accepted: 0 to 1, the model's vocabulary");
  }
  EXPECT_EQ(m.engine.live(), 0u);
  EXPECT_TRUE(generate(m.engine, tokenizer, {}, no_clock).each.empty());
}

TEST(Generate, AnErrorKeepsTheTextBeforeIt) {
  const text::Tokenizer tokenizer = tokenizer_of({"a", "b", "c", "d"});
  InMemory model = in_order(4);
  model.spoil(2, NAN);  // once c is read
  Machine m(model, small);
  const Generated g = generate(m.engine, tokenizer, {{{0}}}, no_clock);
  EXPECT_EQ(g.each[0].text, "bc");
  EXPECT_EQ(g.each[0].finish, FinishReason::error);
  EXPECT_NE(g.each[0].error.find("embedding"), std::string::npos) << g.each[0].error;
}

TEST(KeepLastTokens, LeavesRoomForWhatComes) {
  const auto kept = [](std::int64_t tokens, std::int64_t context, std::optional<std::int64_t> most) {
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(tokens));
    for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = std::int32_t(i);
    const std::int64_t cut = keep_last_tokens(prompt, context, most);
    EXPECT_EQ(cut, tokens - std::int64_t(prompt.size()));
    EXPECT_EQ(prompt.back(), tokens - 1);
    return std::int64_t(prompt.size());
  };
  EXPECT_EQ(kept(99, 100, {}), 99);
  EXPECT_EQ(kept(100, 100, {}), 75);
  EXPECT_EQ(kept(5000, 100, 10), 90);
  EXPECT_EQ(kept(5000, 100, 80), 50);
  EXPECT_EQ(kept(5000, 2, {}), 1);
}

// The real model's chats against its weights in float64. The reference's margins are above 0.002 everywhere, far beyond
// what float32 gets wrong: every token must be the same.
TEST(Generate, TheRealModelAnswersAsItsReference) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path file =
      (cache ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "") / ".cache") / "ridge" /
      "SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there: ./run fetches it";
  std::ifstream stream(golden("real/smollm2_135m_instruct_q4_1/golden.json"));
  const auto chats = nlohmann::json::parse(stream)["greedy"];
  Machine m(model::open(file), {.context = 256, .sequences = 6, .batch_tokens = 64},
            {.activations = ir::Activations::f32}, 2, {2});
  const text::Tokenizer tokenizer(io::read_gguf_tokenizer(*m.model.description().files->gguf()));
  std::vector<Request> requests;
  std::vector<std::vector<std::int32_t>> want;
  for (const auto& chat : chats) {
    requests.push_back({chat["ids"].get<std::vector<std::int32_t>>(), {.max_tokens = 64}});
    EXPECT_EQ(prompt_of(tokenizer.encode(chat["rendered"].get<std::string>(), {.control = text::Control::token})),
              requests.back().tokens);
    want.push_back(chat["greedy"].get<std::vector<std::int32_t>>());
  }
  const Generated g = generate(m.engine, tokenizer, requests, no_clock);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(g.each[i].tokens, want[i]);
    EXPECT_EQ(g.each[i].text, chats[i]["text"].get<std::string>());
    EXPECT_EQ(g.each[i].finish, want[i].back() == 2 ? FinishReason::stop : FinishReason::length);
  }
}

}  // namespace
}  // namespace ridge::engine
