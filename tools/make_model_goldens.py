#!/usr/bin/env python3
"""Makes tiny random models of families and forms that tests/goldens/models lacks, and their goldens: logits and greedy
tokens computed in float64 by transformers, from the files as stored.

    pip install torch transformers safetensors gguf
    tools/make_model_goldens.py tests/goldens [NAME ...]

Sizes are odd on purpose. `older` models get the config.json that older versions wrote; `gguf` ones are written as GGUF,
too, with tensor names by gguf-py's own table."""
import json
import pathlib
import sys

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

COMMON = dict(hidden_size=40, intermediate_size=56, num_hidden_layers=2, num_attention_heads=5, num_key_value_heads=1,
              vocab_size=131, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0)


def sized(**more):
    return {**COMMON, **more}


def longrope(pairs):
    return dict(rope_type="longrope", rope_theta=10000.0, short_factor=[1.0 + 0.1 * i for i in range(pairs)],
                long_factor=[1.5 + i for i in range(pairs)])


# name: (model_type, config, options)
MODELS = {
    "llama_odd": ("llama", sized(rope_parameters=dict(rope_type="llama3", rope_theta=20000.0, factor=4.0, low_freq_factor=1.0,
                                                      high_freq_factor=3.0, original_max_position_embeddings=48)),
                  dict(older=True)),
    "llama_bf16_sharded": ("llama", sized(tie_word_embeddings=True), dict(dtype=torch.bfloat16, shards=3)),
    "llama_f8_channel": ("llama", sized(), dict(f8="channel")),
    "phi3_f8_tensor": ("phi3", sized(sliding_window=None, original_max_position_embeddings=256), dict(f8="tensor")),
    "mistral_odd": ("mistral", sized(head_dim=12, sliding_window=5), {}),
    "qwen2_odd": ("qwen2", sized(use_sliding_window=True, sliding_window=6, max_window_layers=1), dict(older=True, gguf=False)),
    "qwen2_yarn_odd": ("qwen2", sized(rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=3.5, beta_fast=16.0,
                                                           beta_slow=2.0, original_max_position_embeddings=40,
                                                           attention_factor=1.25)), dict(older=True)),
    "qwen3_odd": ("qwen3", sized(head_dim=10, attention_bias=True), {}),
    "gemma2_odd": ("gemma2", sized(head_dim=10, num_hidden_layers=3, sliding_window=7, query_pre_attn_scalar=10,
                                   attn_logit_softcapping=15.0, final_logit_softcapping=9.0), dict(gguf=True)),
    "gemma3_odd": ("gemma3_text", sized(head_dim=10, num_hidden_layers=3, sliding_window=7, query_pre_attn_scalar=10,
                                        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                                        rope_parameters=dict(full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6),
                                                             sliding_attention=dict(rope_type="default", rope_theta=5000.0))),
                   dict(older=True)),
    "gemma3_six": ("gemma3_text", sized(head_dim=8, num_hidden_layers=7, hidden_size=32, intermediate_size=40, num_attention_heads=4,
                                        sliding_window=7, query_pre_attn_scalar=8), dict(gguf=True)),
    "phi3": ("phi3", sized(num_attention_heads=4, num_key_value_heads=2, sliding_window=9, original_max_position_embeddings=256), dict(gguf=True)),
    "phi3_longrope": ("phi3", sized(num_attention_heads=4, num_key_value_heads=2, hidden_size=64, sliding_window=None,
                                    partial_rotary_factor=0.75, tie_word_embeddings=True, original_max_position_embeddings=16,
                                    rope_parameters=longrope(6) | dict(partial_rotary_factor=0.75)), dict(older=True, gguf=True)),
    "olmo2": ("olmo2", sized(num_key_value_heads=5), dict(gguf=True)),
    "olmo2_gqa": ("olmo2", sized(attention_bias=True), {}),
    "granite": ("granite", sized(embedding_multiplier=6.0, attention_multiplier=0.2, residual_multiplier=0.3, logits_scaling=4.0,
                                 tie_word_embeddings=True), dict(gguf=True)),
    "granite_bias": ("granite", sized(embedding_multiplier=2.0, attention_multiplier=0.125, residual_multiplier=0.5,
                                      logits_scaling=0.5, attention_bias=True, mlp_bias=True), {}),
    "gpt2_odd": ("gpt2", dict(n_embd=36, n_layer=2, n_head=3, n_inner=50, n_positions=100, vocab_size=131, bos_token_id=1, eos_token_id=2),
                 dict(gguf=True, bare=True)),
    "mixtral_odd": ("mixtral", sized(num_local_experts=5, num_experts_per_tok=3, sliding_window=11), {}),
    "qwen3_moe_odd": ("qwen3_moe", sized(head_dim=10, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24,
                                         norm_topk_prob=False), {}),
}


def randomize(model, seed):
    """Weights that make every part of the model matter: norms away from 1, biases away from 0."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if parameter.ndim == 1 and ("norm" in name or "ln_" in name) and name.endswith("weight"):
            value = parameter.data.double() + 0.2 * noise
        elif parameter.ndim == 1:
            value = 0.1 * noise
        else:
            value = noise * (0.7 / parameter.shape[-1] ** 0.5 if "embed" not in name and "wte" not in name else 0.5)
        parameter.data.copy_(value)


def older_form(config):
    """As versions before rope_parameters and dtype wrote it."""
    rope = config.pop("rope_parameters")
    config["torch_dtype"] = config.pop("dtype")
    if "full_attention" in rope:  # Gemma 3
        config["rope_theta"] = rope["full_attention"].pop("rope_theta")
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        config["rope_scaling"] = rope["full_attention"]
        config.pop("layer_types")
        config.pop("_sliding_window_pattern", None)
        config["sliding_window_pattern"] = 2
        return config
    config["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if rope.get("rope_type") == "longrope":
        rope = {"type": "longrope", "short_factor": rope["short_factor"], "long_factor": rope["long_factor"]}
    config["rope_scaling"] = None if rope.get("rope_type", "default") == "default" and "type" not in rope else rope
    config.pop("layer_types", None)
    return config


def goldens(model, vocabulary, seed):
    generator = torch.Generator().manual_seed(seed)
    out = {}
    for n in (1, 17, 75):
        ids = torch.randint(3, vocabulary, (1, n), generator=generator)
        out[f"ids_{n}"] = ids[0].int()
        out[f"logits_{n}"] = model(ids, use_cache=False).logits[0].float()
    ids, chosen, margins = out["ids_17"].long()[None], [], []
    for _ in range(40):
        best = model(ids, use_cache=False).logits[0, -1].topk(2)
        chosen.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        ids = torch.cat([ids, best.indices[:1][None]], 1)
    out["greedy_17"] = torch.tensor(chosen, dtype=torch.int32)
    out["greedy_17_margin"] = torch.tensor(margins, dtype=torch.float32)
    return out


def shard(folder, count):
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, where = sorted(tensors), {}
    for i in range(count):
        file = f"model-{i + 1:05}-of-{count:05}.safetensors"
        part = {n: tensors[n] for n in names[i::count]}
        save_file(part, folder / file, metadata={"format": "pt"})
        where |= {n: file for n in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}, indent=1, sort_keys=True))


def to_f8(folder, model, strategy):
    """Products' weights as f8_e4m3 with a scale for each row, or for all; the model gets the values that they stand for."""
    tensors = load_file(folder / "model.safetensors")
    parameters = dict(model.named_parameters())
    for name in [n for n in tensors if n.endswith("_proj.weight")]:
        value = tensors[name].double()
        most = value.abs().amax(1, keepdim=True) if strategy == "channel" else value.abs().max().reshape(1)
        scale = (most / 448).float()
        tensors[name] = (value / scale).to(torch.float8_e4m3fn)
        tensors[name.removesuffix("weight") + "weight_scale"] = scale if strategy == "channel" else scale[0]
        parameters[name].data = tensors[name].double() * scale.double()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "fp8", "activation_scheme": "dynamic"} if strategy == "tensor" else {
        "quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"], "kv_cache_scheme": None,
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}}}}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def write_gguf(path, config, tensors):
    """As llama.cpp's converter has it: norms of Gemma with their 1 added, Conv1D turned round, q and k of Llama-like
    families permuted (Granite)."""
    import gguf
    arch = {"gemma3_text": "gemma3"}.get(config.model_type, config.model_type)
    writer = gguf.GGUFWriter(path, arch)
    get = lambda *names: next((getattr(config, n) for n in names if getattr(config, n, None) is not None), None)
    heads, layers, hidden = get("num_attention_heads", "n_head"), get("num_hidden_layers", "n_layer"), get("hidden_size", "n_embd")
    writer.add_name(path.stem)
    writer.add_block_count(layers)
    writer.add_context_length(get("max_position_embeddings", "n_positions"))
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(get("intermediate_size", "n_inner"))
    writer.add_head_count(heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    if arch == "gpt2":
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        kv_heads, head_dim = config.num_key_value_heads, get("head_dim") or hidden // heads
        writer.add_head_count_kv(kv_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
        rope = config.rope_parameters
        writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
        writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1)))
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if arch == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if arch == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if arch == "phi3" and rope["rope_type"] == "longrope":
        original, longest = config.original_max_position_embeddings, config.max_position_embeddings
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors((1 + np.log(longest / original) / np.log(original)) ** 0.5)
        for kind in ("long", "short"):
            writer.add_tensor(f"rope_factors_{kind}.weight", np.array(rope[f"{kind}_factor"], dtype=np.float32))
    names = gguf.get_tensor_name_map(next(k for k, v in gguf.MODEL_ARCH_NAMES.items() if v == arch), layers)
    for name, value in tensors.items():
        data = value.float().numpy()
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            data = data + 1
        if arch == "gpt2" and data.ndim == 2 and ".c_" in name:
            data = data.T
        if arch == "granite" and (".q_proj." in name or ".k_proj." in name):
            n = heads if ".q_proj." in name else kv_heads
            data = data.reshape(n, 2, data.shape[0] // n // 2, *data.shape[1:]).swapaxes(1, 2).reshape(data.shape)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), np.ascontiguousarray(data))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(root, name, seed):
    kind, values, options = MODELS[name]
    folder = root / "models" / name
    config = transformers.AutoConfig.for_model(kind, **values)
    config.dtype = options.get("dtype", torch.float32)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager", dtype=config.dtype)
    randomize(model, seed)
    model.save_pretrained(folder)
    if options.get("bare"):  # as the hub's first GPT-2 has it: no prefix, and the mask among the tensors
        tensors = {k.removeprefix("transformer."): v for k, v in load_file(folder / "model.safetensors").items()}
        tensors |= {f"h.{l}.attn.bias": torch.tril(torch.ones(1, 1, 8, 8)) for l in range(config.n_layer)}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if options.get("gguf"):
        write_gguf(root / "gguf" / f"{name}.f32.gguf", config, load_file(folder / "model.safetensors") if not options.get("bare") else
                   {"transformer." + k: v for k, v in load_file(folder / "model.safetensors").items() if not k.endswith(".attn.bias")})
    if options.get("shards"):
        shard(folder, options["shards"])
    if options.get("older"):
        text = older_form(json.loads((folder / "config.json").read_text()))
        (folder / "config.json").write_text(json.dumps(text, indent=2, sort_keys=True) + "\n")
    model.double()
    if options.get("f8"):
        to_f8(folder, model, options["f8"])
    with torch.no_grad():
        save_file(goldens(model.eval(), config.vocab_size, seed), folder / "golden.safetensors")
    print(name, sum(p.stat().st_size for p in folder.iterdir()), "bytes")


def main():
    root = pathlib.Path(sys.argv[1])
    for seed, name in enumerate(MODELS):
        if len(sys.argv) == 2 or name in sys.argv[2:]:
            make(root, name, seed)


main()
