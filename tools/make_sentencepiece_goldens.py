#!/usr/bin/env python3
"""Trains small SentencePiece models and writes what the sentencepiece library (PyPI, 0.2.3) makes of some texts.

    tools/make_sentencepiece_goldens.py      writes tests/goldens/tokenizers/sentencepiece_*.model.xz
                                             and tests/goldens/tokens/sentencepiece.json.xz
Needs: pip install sentencepiece protobuf. The corpus is /usr/share/common-licenses/GPL-3 (on every Debian machine).
"""
import json
import lzma
import random
import tempfile
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

GOLDENS = Path(__file__).resolve().parent.parent / "tests" / "goldens"
LICENSE = Path("/usr/share/common-licenses/GPL-3").read_text(encoding="utf-8")
OTHER = "Ünïcödé текст 日本語 한국어 emoji 😀 tab\there  double  spaces\n" * 50
MODELS = {
    "bytes": dict(model_type="bpe", vocab_size=900, byte_fallback=True, normalization_rule_name="identity",
                  remove_extra_whitespaces=False, user_defined_symbols=["<sep>", "Free", "▁▁"],
                  control_symbols=["<ctl>", "[INST]"], split_digits=True, character_coverage=0.999),
    "plain": dict(model_type="bpe", vocab_size=600, normalization_rule_name="identity", user_defined_symbols=["<mask>"]),
    "no_prefix": dict(model_type="bpe", vocab_size=700, byte_fallback=True, normalization_rule_name="identity",
                      remove_extra_whitespaces=False, add_dummy_prefix=False, split_by_whitespace=False,
                      allow_whitespace_only_pieces=True),
    "nfkc": dict(model_type="bpe", vocab_size=500),  # the trainer's default rules
    "unigram": dict(model_type="unigram", vocab_size=300, normalization_rule_name="identity"),
}
TEXTS = ["", "a", " ", "  ", "\n", "hello world", "  leading", "trailing  ", "a  b   c", "Free software", "un<sep>x <sep> y",
         "<s>x</s>", "<ctl>[INST] hi", "<mask>a <mask>", "▁x▁▁y", "x▁", "1234567", "Ünïcödé текст", "日本語😀", "emoji 👩‍👩‍👧 zwj",
         "\t\ttabs", "<unk>", "<0x0A>", "e\u0301", "ﬁ ﬂ ①", "x" * 300, " " * 300, "ab" * 200, "zzzzzzqqqqqq"]


def texts():
    generator = random.Random(1)
    lines = [line for line in LICENSE.split("\n") if line.strip()]
    letters = "abcdeFre <>sepmask▁  \nñé日😀0123ﬁ"
    cut = []
    for _ in range(120):
        line = generator.choice(lines)
        start = generator.randrange(len(line))
        cut.append(line[start:start + generator.randrange(1, 120)])
    drawn = ["".join(generator.choice(letters) for _ in range(generator.randrange(1, 40))) for _ in range(200)]
    return TEXTS + cut + drawn


def with_unused_pieces(model, most=60):
    """A model in which some pieces are only steps on the way to longer ones."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    for piece in [p for p in proto.pieces if p.type == p.NORMAL and len(p.piece) > 3][:most]:
        piece.type = piece.UNUSED
    return proto.SerializeToString()


def main():
    models = {}
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        corpus.write_text(LICENSE + OTHER, encoding="utf-8")
        for name, options in MODELS.items():
            prefix = Path(folder) / name
            sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(prefix), **options)
            models[name] = prefix.with_suffix(".model").read_bytes()
    models["unused"] = with_unused_pieces(models["plain"])
    golden = {"texts": texts(), "ids": {}}
    for name, model in models.items():
        (GOLDENS / "tokenizers" / f"sentencepiece_{name}.model.xz").write_bytes(lzma.compress(model, preset=9))
        if name == "unigram":
            continue
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        golden["ids"][name] = [processor.encode(text) for text in golden["texts"]]
    text = json.dumps(golden, ensure_ascii=False, separators=(",", ":"))
    (GOLDENS / "tokens" / "sentencepiece.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


main()
