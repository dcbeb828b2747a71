// Keys of config.json that are known and do not change what the forward pass computes: about training, about the
// reference's own machinery, about generation (generation_config.json says that), and what old versions wrote for every
// model.
#include "model/config_from_hf.h"

namespace ridge::model {

static constexpr std::string_view harmless[] = {
    // who wrote it, and how it is stored
    "architectures", "auto_map", "dtype", "torch_dtype", "transformers_version", "transformers.js_config", "use_bfloat16",
    "torchscript", "_attn_implementation", "attn_implementation", "_attn_implementation_autoset", "cache_implementation",
    "unsloth_version", "unsloth_fixed", "tokenizer_class", "pretraining_tp", "gradient_checkpointing", "use_cache",
    "return_dict", "output_hidden_states", "output_attentions", "chunk_size_feed_forward", "pruned_heads", "tf_legacy_loss",
    "is_llama_config",
    // training
    "attention_dropout", "attn_pdrop", "embd_pdrop", "resid_pdrop", "embd_dropout", "hidden_dropout", "initializer_range",
    "router_aux_loss_coef", "router_jitter_noise", "output_router_logits", "problem_type", "finetuning_task", "classifier_dropout",
    "id2label", "label2id", "num_labels", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj", "task_specific_params", "reorder_and_upcast_attn",
    // tokens and generation
    "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "unk_token_id", "decoder_start_token_id", "prefix",
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty", "temperature",
    "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "output_scores", "return_dict_in_generate",
    "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty",
    "suppress_tokens", "begin_suppress_tokens", "tie_encoder_decoder", "cross_attention_hidden_size",
};

void ignore_harmless_keys(const io::HfConfig& h) {
  for (std::string_view key : harmless) h.ignore(key);
}

}  // namespace ridge::model
