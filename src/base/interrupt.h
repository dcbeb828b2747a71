// ^C. The first one asks long work to stop where it is and keep what it has; the second one ends the process (130).
#pragma once
#include <string_view>

namespace ridge {

void catch_interrupts();  // installs the handler (SIGINT, and SIGTERM likewise); call once, from main
bool interrupted();       // loops ask this between two steps
void stop_if_interrupted(std::string_view doing);  // work whose part is worth nothing: "interrupted while {doing}"
void forget_interrupt();                           // an interactive chat goes on with the next prompt

}  // namespace ridge
