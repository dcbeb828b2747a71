#include "model/text.h"

#include "base/error.h"
#include "io/tokenizer_gguf.h"

namespace ridge::model {
text::Tokenizer load_tokenizer(const io::ModelFiles& files) {
  if (const io::GgufMetadata* m = files.gguf()) {
    if (!io::has_tokenizer(*m)) fail_input("{}: holds no tokenizer (tokenizer.ggml.model)", m->file());
    return text::Tokenizer(io::read_gguf_tokenizer(*m));
  }
  fail_input("{}: no tokenizer was found", files.path.string());
}

}  // namespace ridge::model
