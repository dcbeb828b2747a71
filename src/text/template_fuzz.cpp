// Any bytes as a chat template, rendered over a small conversation: no crash, no unbounded work, errors are the
// input's.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "text/chat.h"

namespace {

using ridge::text::Value;
using ridge::text::ValueMap;

Value text(const char* bytes) { return Value::string(bytes); }

Value make_context() {
  ValueMap arguments, call, tool_message, map;
  arguments.set("a", Value::integer(1));
  arguments.set("b", Value::real(2.5));
  call.set("name", text("add"));
  call.set("arguments", Value::map(arguments));
  tool_message.set("role", text("assistant"));
  tool_message.set("tool_calls", Value::list({Value::map(call)}));
  std::vector<Value> messages = ridge::text::to_value({{"system", "S"}, {"user", "na\xc3\xafve \xff x\ny"}}).items();
  messages.push_back(Value::map(tool_message));
  map.set("messages", Value::list(messages));
  map.set("tools", Value::list({Value::map(call)}));
  map.set("names", Value::list({text("Ann"), text("bob"), text("Cid")}));
  map.set("numbers", Value::list({Value::integer(3), Value::integer(-1), Value::real(1e300)}));
  map.set("text", text("Hello, World"));
  map.set("table", Value::map(arguments));
  map.set("nothing", Value::none());
  map.set("yes", Value::boolean(true));
  map.set("n", Value::integer(7));
  return Value::map(map);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Value context = make_context();
  ridge::text::Limits limits;
  limits.steps = 200'000;
  limits.bytes = 20'000'000;
  limits.output_bytes = 4'000'000;
  try {
    ridge::text::Template parsed({reinterpret_cast<const char*>(data), size}, limits);
    parsed.render(context, std::tm{});
  } catch (const ridge::Error& error) {
    if (error.fault() != ridge::Fault::input) std::abort();
  }
  return 0;
}
