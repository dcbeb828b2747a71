// A Hugging Face folder's config.json as a Config.
#pragma once
#include "io/hf_config.h"
#include "model/config.h"

namespace ridge::model {

struct HfDescription {
  Config config;
  bool tied = false;  // the head is the embedding
};

// Reads the newest form (rope_parameters, dtype, layer_types) and the older ones (rope_theta, rope_scaling,
// torch_dtype). Fails (input), naming file and key, on what is missing, of the wrong type or out of range, on an
// architecture that ridge does not have, and on every key that it does not know: it might change the result.
HfDescription config_from_hf(const io::HfConfig& h);

// Its parts, one file each.
// The rope at `object` ("rope_parameters", "rope_parameters.full_attention"), or of the older keys; c.head_dim and
// c.context are set.
Rope rope_from_hf(const io::HfConfig& h, std::string_view object, const Config& c);
void ignore_harmless_keys(const io::HfConfig& h);

}  // namespace ridge::model
