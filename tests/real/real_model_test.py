"""The example model through the command line, against its golden (tests/goldens/real), which transformers computed in
float64 from the dequantized weights. Needs RIDGE (the program) and RIDGE_MODEL (the GGUF file); ./test goldens sets both."""
import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from safetensors_file import Tensors

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/goldens/real/smollm2_135m_instruct_q4_1"
GOLDEN = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
TENSORS = Tensors(FOLDER / "golden.safetensors")
TEXT = Path("/usr/share/common-licenses/GPL-3")  # the golden's text, on every Debian machine
RIDGE = os.environ["RIDGE"]
MODEL = os.environ["RIDGE_MODEL"]
LENGTHS = (1, 17, 75, 512)
EXACT = ("--activations", "f32")
DEFAULT = ()


def ridge(*arguments, stdin=""):
    done = subprocess.run([RIDGE, *arguments], input=stdin, capture_output=True, encoding="utf-8", timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"ridge {' '.join(arguments)} exits {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def logits(ids, *flags):
    """The logits of every position, or of the last without --all, as rows."""
    with tempfile.TemporaryDirectory() as folder:
        ids_file, out = Path(folder, "ids.json"), Path(folder, "out.safetensors")
        ids_file.write_text(json.dumps(list(ids)))
        ridge("logits", MODEL, "--ids", str(ids_file), "--out", str(out), *flags)
        return Tensors(out).rows("logits")


def relative_error(actual, expected):
    """‖Δ‖/‖ref‖; NaN fails every comparison with it."""
    return math.dist(actual, expected) / math.hypot(*expected)


def log_sum_exp(row):
    top = max(row)
    return top + math.log(sum(math.exp(x - top) for x in row))


def divergence(row, top_ids, top_logits, golden_log_sum):
    """KL(golden ‖ ours) over the golden's top 16 and everything else as one outcome."""
    ours_log_sum = log_sum_exp(row)
    golden = [math.exp(x - golden_log_sum) for x in top_logits]
    ours = [math.exp(row[i] - ours_log_sum) for i in top_ids]
    golden.append(max(1 - sum(golden), 1e-12))
    ours.append(max(1 - sum(ours), 1e-12))
    return sum(p * math.log(p / q) for p, q in zip(golden, ours))


def perplexity(*flags):
    """ridge's perplexity of the golden's 12 windows: (all positions, second half of each window)."""
    out = json.loads(ridge("perplexity", MODEL, str(TEXT), "--context", "512", "--windows", "12", "--json", *flags))
    return out["perplexity"], out["perplexity_second_half"]


class Text(unittest.TestCase):
    def test_ids_of_the_text(self):
        ids = json.loads(ridge("tokenize", MODEL, stdin=TEXT.read_text(encoding="utf-8")))
        self.assertEqual(len(ids), GOLDEN["text_tokens"])
        self.assertEqual(ids[:len(TENSORS.flat("text_ids"))], list(TENSORS.flat("text_ids")))

    def test_chats_are_rendered_and_tokenized(self):
        chats = [{"messages": [{"role": "user", "content": chat["prompt"]}], "add_generation_prompt": True}
                 for chat in GOLDEN["greedy"]]
        lines = ridge("template", MODEL, "--jsonl", stdin="".join(json.dumps(chat) + "\n" for chat in chats))
        rendered = [json.loads(line)["text"] for line in lines.splitlines()]
        self.assertEqual(rendered, [chat["rendered"] for chat in GOLDEN["greedy"]])
        lines = ridge("tokenize", MODEL, "--jsonl", "--control", stdin="".join(json.dumps({"text": t}) + "\n" for t in rendered))
        self.assertEqual([json.loads(line)["ids"] for line in lines.splitlines()], [chat["ids"] for chat in GOLDEN["greedy"]])


class Logits(unittest.TestCase):
    def check_last(self, bound, lengths, *flags):
        for length in lengths:
            with self.subTest(tokens=length):
                row = logits(TENSORS.flat(f"ids_{length}"), *flags)[-1]
                self.assertLessEqual(relative_error(row, TENSORS.flat(f"logits_last_{length}")), bound)

    def test_reference_device(self):
        self.check_last(1e-3, (1, 17), "--device", "ref")

    def test_exact_activations(self):
        self.check_last(1e-3, LENGTHS, *EXACT)

    def test_default_path_is_as_close_as_int8_activations_are(self):
        self.check_last(0.09, LENGTHS, *DEFAULT)  # llama.cpp: 1 to 9 %

    def check_divergence(self, mean, worst, *flags):
        for length in LENGTHS:
            with self.subTest(tokens=length):
                rows = logits(TENSORS.flat(f"ids_{length}"), "--all", *flags)
                self.assertEqual(len(rows), length)
                golden = zip(rows, TENSORS.rows(f"top16_ids_{length}"), TENSORS.rows(f"top16_logits_{length}"),
                             TENSORS.flat(f"logsumexp_{length}"))
                each = [divergence(*position) for position in golden]
                self.assertLessEqual(sum(each) / length, mean)
                self.assertLessEqual(max(each), worst)

    def test_divergence_of_exact_activations(self):
        self.check_divergence(1e-8, 1e-6, *EXACT)

    def test_divergence_of_the_default_path(self):
        self.check_divergence(4e-3, 0.1, *DEFAULT)  # llama.cpp at these positions: mean 2.9e-3 to 3.5e-3, at most 6.2e-2


class Perplexity(unittest.TestCase):
    def check(self, tolerance, *flags):
        whole, second_half = perplexity(*flags)
        for actual, name in ((whole, "all_positions"), (second_half, "second_half")):
            expected = GOLDEN[f"perplexity_windows_of_512_{name}"]
            with self.subTest(name):
                self.assertLessEqual(abs(actual / expected - 1), tolerance)

    def test_exact_activations(self):
        self.check(0.0005, *EXACT)

    def test_default_path_is_no_further_off_than_llama_cpp(self):
        self.check(0.0062, *DEFAULT)


class Greedy(unittest.TestCase):
    """Token by token after the golden's own continuation, so that one close call does not hide the rest."""

    def check(self, margin_bound, *flags):
        for chat in GOLDEN["greedy"]:
            with self.subTest(chat["prompt"]):
                rows = logits(chat["ids"] + chat["greedy"][:-1], "--all", *flags)[len(chat["ids"]) - 1:]
                self.assertEqual(len(rows), len(chat["greedy"]))
                for row, expected, margin in zip(rows, chat["greedy"], chat["margin"]):
                    if margin > margin_bound:
                        self.assertEqual(max(range(len(row)), key=row.__getitem__), expected, f"where the margin is {margin}")

    def test_exact_activations(self):
        self.check(0.002, *EXACT)  # below every margin of the golden: all tokens

    def test_default_path(self):
        self.check(0.5, *DEFAULT)

    def test_run_writes_the_golden_text(self):
        for chat in GOLDEN["greedy"]:
            with self.subTest(chat["prompt"]):
                out = json.loads(ridge("run", MODEL, "--prompt", chat["prompt"], "--temperature", "0", "--max-tokens", "64", "--json",
                                       *EXACT))
                self.assertEqual(out["text"], chat["text"])
                self.assertEqual(out["ids"], chat["greedy"])


if __name__ == "__main__":
    unittest.main()
