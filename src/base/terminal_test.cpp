// What stands on the terminal while work goes on: progress, log level, ^C.
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"

namespace ridge {
namespace {

class OwnTerminal {  // stands for standard error; holds some kilobytes
 public:
  OwnTerminal() : before_(dup(STDERR_FILENO)) {
    int ours = -1;
    EXPECT_EQ(openpty(&screen_, &ours, nullptr, nullptr, nullptr), 0);
    dup2(ours, STDERR_FILENO);
    close(ours);
  }
  ~OwnTerminal() {
    put_back();
    close(screen_);
  }
  std::string shown() {  // all that was written, now that standard error is what it was
    put_back();
    std::string text;
    char bytes[4096];
    for (ssize_t n; (n = read(screen_, bytes, sizeof bytes)) > 0;) text.append(bytes, std::size_t(n));
    return text;  // the end of a terminal that nobody holds any more is an error
  }

 private:
  void put_back() {
    if (before_ < 0) return;
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(std::exchange(before_, -1));
  }
  int before_, screen_ = -1;
};

TEST(Progress, Line) {
  EXPECT_EQ(progress_line("probing", 5, 10, Unit::count, 3.1, 45), "probing  [█████·····]  5 of 10  50 %  3.10 s");
  EXPECT_EQ(progress_line("reading", 1 << 20, 0, Unit::bytes, 0.5, 80), "reading  1.00 MiB  0.50 s");
  EXPECT_EQ(progress_line("a", 20, 10, Unit::count, 1, 10), "a  20 of 10  100 %  1.00 s");  // too narrow for a bar
  EXPECT_LE(display_width(progress_line("probing", 5, 10, Unit::count, 3.1, 60)), 60);
}

TEST(Progress, SeveralThreadsAdvanceWhileOthersLogAndTheMakerSpeaks) {
  const LogLevel before = log_level();
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  log_info(
      "first");  // the log decides on colors when it is first used: not on a terminal, for the tests after this one
  testing::internal::GetCapturedStderr();
  OwnTerminal terminal;
  {
    Progress progress("first", 400);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&progress, t] {
        for (int i = 0; i < 100; ++i) {
          progress.advance();
          if (i % 50 == 49) log_info("thread {} is at {}", t, i);
        }
      });
    for (int i = 0; i < 5; ++i) progress.say("second");
    for (std::thread& t : threads) t.join();
    progress.say("last");
  }
  const std::string shown = terminal.shown();
  set_log_level(before);
  EXPECT_NE(shown.find("400 of 400  100 %"), std::string::npos) << shown;
  for (int t = 0; t < 4; ++t) EXPECT_NE(shown.find(fmt::format("thread {} is at 99", t)), std::string::npos) << shown;
  EXPECT_EQ(shown.substr(shown.rfind('\r')), "\r\x1b[K");  // no trace of the bar
}

TEST(Log, LevelsHideWhatIsBelow) {
  const LogLevel before = log_level();
  set_log_level(LogLevel::error);
  testing::internal::CaptureStderr();
  log_warning("not shown");
  log_error("shown {}", 1);
  set_log_level(before);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: shown 1\n");
}

TEST(Interrupt, FirstAsksSecondEnds) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        raise(SIGINT);
        if (!interrupted()) _exit(1);
        raise(SIGINT);
        _exit(2);
      },
      testing::ExitedWithCode(130), "");
  EXPECT_EXIT(
      {
        catch_interrupts();
        raise(SIGINT);
        forget_interrupt();
        _exit(interrupted() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ridge
