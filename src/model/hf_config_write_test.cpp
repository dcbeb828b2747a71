#include "model/hf_config_write.h"

#include <gtest/gtest.h>

#include "model/config_from_hf.h"
#include "model/shapes.h"

namespace ridge::model {
namespace {

TEST(hf_config_write, named_shapes_are_read_back) {
  for (std::string_view name : shape_names()) {
    const Description d = named_shape(name, DType::bf16);
    const Config& a = d.config;
    const HfDescription read = config_from_hf(io::HfConfig::parse(hf_config_text(a, d.tied, DType::bf16), name));
    const Config& b = read.config;
    EXPECT_EQ(a.architecture, b.architecture) << name;
    EXPECT_EQ(d.tied, read.tied) << name;
    EXPECT_EQ(std::tuple(a.layers, a.hidden, a.ffn, a.vocab, a.heads, a.kv_heads, a.head_dim, a.context),
              std::tuple(b.layers, b.hidden, b.ffn, b.vocab, b.heads, b.kv_heads, b.head_dim, b.context))
        << name;
    EXPECT_EQ(std::tuple(a.experts, a.experts_used, a.experts > 0 ? a.expert_ffn : 0, a.sliding_window),
              std::tuple(b.experts, b.experts_used, b.expert_ffn, b.sliding_window))
        << name;
    EXPECT_EQ(std::tuple(a.norm_eps, a.attention_softcap, a.logit_softcap, a.logit_scale, a.residual_scale),
              std::tuple(b.norm_eps, b.attention_softcap, b.logit_softcap, b.logit_scale, b.residual_scale))
        << name;
    EXPECT_FLOAT_EQ(a.attention_scale, b.attention_scale) << name;
    EXPECT_EQ(a.embedding_scale, b.embedding_scale) << name;
    if (a.architecture != "gpt2") {
      EXPECT_EQ(std::tuple(a.rope.base, a.rope.dims), std::tuple(b.rope.base, b.rope.dims)) << name;
    }
    EXPECT_EQ(a.local_rope.has_value(), b.local_rope.has_value()) << name;
    for (std::int64_t l = 0; l < a.layers; ++l) EXPECT_EQ(a.window(l), b.window(l)) << name << ", layer " << l;
  }
}

}  // namespace
}  // namespace ridge::model
