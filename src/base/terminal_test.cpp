// What stands on the terminal while work goes on: progress, log level, ^C.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"

namespace ridge {
namespace {

TEST(Progress, Line) {
  EXPECT_EQ(progress_line("probing", 5, 10, Unit::count, 3.1, 45), "probing  [█████·····]  5 of 10  50 %  3.10 s");
  EXPECT_EQ(progress_line("reading", 1 << 20, 0, Unit::bytes, 0.5, 80), "reading  1.00 MiB  0.50 s");
  EXPECT_EQ(progress_line("a", 20, 10, Unit::count, 1, 10), "a  20 of 10  100 %  1.00 s");  // too narrow for a bar
  EXPECT_LE(display_width(progress_line("probing", 5, 10, Unit::count, 3.1, 60)), 60);
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
