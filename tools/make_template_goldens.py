#!/usr/bin/env python3
"""Writes tests/goldens/templates/snippets.json: many small templates and what Jinja2 3.1 makes of them.

Needs jinja2 (3.1.6 made the file that is in the repository). The environment is the one that Hugging Face
transformers 5.24 renders chat templates in (transformers/utils/chat_template_utils.py), with a fixed clock.
Snippets live in tools/template_snippets: one a line in *.lines (`# ` starts a comment line, blank lines are skipped),
and separated by lines of `---` in *.txt. In front of a snippet `!unsupported WORD` (a line in *.txt, up to ` !! ` in
*.lines) marks one that ridge refuses with that word in its message; `!raw` takes the rest as a JSON string.
families.txt holds whole templates, each rendered for several conversations.
"""
import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOW = datetime.datetime(2024, 7, 26, 13, 5, 9)

CONTEXT = {
    "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True,
    "messages": [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "  Hi <b>there</b> & \"you\"  "},
        {"role": "assistant", "content": "", "tool_calls": [
            {"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": 2.5, "c": None, "d": True}}}]},
        {"role": "tool", "content": "3.5"},
        {"role": "user", "content": "naïve 🙂 日本\nline two"},
    ],
    "tools": [{"type": "function", "function": {"name": "add", "description": "Adds \"two\" <numbers>", "parameters": {
        "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}}],
    "names": ["Ann", "bob", "Cid", "ann", "Bob"], "numbers": [3, 1, 2, 10, 2], "mixed": [1, "a", None, True, 2.5, [1], {"k": 1}],
    "people": [{"name": "Ann", "age": 31, "city": {"name": "Ulm"}}, {"name": "bob", "age": 27, "city": {"name": "Bonn"}},
               {"name": "Cid", "age": 31}],
    "empty_list": [], "empty_dict": {}, "empty_text": "", "nothing": None, "yes": True, "no": False,
    "text": "Hello, World", "spaces": " \t a b  c \n", "long": "The quick brown fox jumps over the lazy dog",
    "unicode": "Straße ÉCOLE ﬁn ΣΑΣ", "html": "<a href='x'>\"&\"</a>", "lines": "one\ntwo\r\nthree\n\nfive",
    "n": 7, "f": 2.5, "big": 9007199254740993, "table": {"b": 2, "a": 1, "C": 3}, "nested": {"a": {"b": [10, {"c": "deep"}]}},
    "odd_keys": {"items": "shadow", "x y": 1, "1": "one"}, "pairs": [["a", 1], ["b", 2]], "tree": [
        {"t": "1", "kids": [{"t": "1.1", "kids": []}, {"t": "1.2", "kids": [{"t": "1.2.1", "kids": []}]}]}, {"t": "2", "kids": []}],
}


def conversations():
    """Contexts for whole templates (families.txt): several conversations, with and without tools and a prompt's start."""
    tool = json.loads(json.dumps(CONTEXT["tools"][0]))
    tool["function"]["parameters"]["properties"]["mode"] = {"type": "string", "enum": ["c", "f"], "description": " unit "}
    tool["function"]["parameters"]["properties"]["list"] = {"type": "array", "items": {"type": "object", "properties": {
        "deep": {"type": ["string", "null"]}, "map": {"type": "object", "additionalProperties": {"type": "integer"}}}}}
    call = {"id": "abc123def", "type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": [2.5, "é"]}}}
    user, system = {"role": "user", "content": " Hi <b>there</b> "}, {"role": "system", "content": "Be\nterse. "}
    answer = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes. "}
    parts = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " what? "}]}
    called = [user, {"role": "assistant", "content": "", "tool_calls": [call, call]}, {"role": "tool", "content": "3"},
              {"role": "tool", "content": "4"}]
    for messages in ([user], [system, user], [user, answer, user], [system, user, answer], [user, user], called,
                     [system] + called + [answer, user], [parts, answer], [user, {"role": "other", "content": "x"}], []):
        for tools in (None, [tool, CONTEXT["tools"][0]]):
            yield {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": tools is None,
                   "bos_token": "<s>", "eos_token": "</s>"}


class AssistantTracker(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_generation_support"), [], [], body).set_lineno(lineno)

    @jinja2.pass_eval_context
    def _generation_support(self, context, caller):
        return caller()


class TemplateDict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)

    def fromkeys(self, *args, **kwargs):
        return dict.fromkeys(*args, **kwargs)


class TemplateNamespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attrs = dict(*args, **kwargs)
        for name in attrs:
            TemplateNamespace._check_name(name)
        jinja2.utils.Namespace.__init__(self, attrs)

    def __setitem__(self, name, value):
        TemplateNamespace._check_name(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check_name(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(name)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[AssistantTracker, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    env.globals["dict"] = TemplateDict()
    env.globals["namespace"] = TemplateNamespace
    return env


def render(source, context):
    try:
        text = environment().from_string(source).render(**context)
        text.encode("utf-8")
        return {"text": text}
    except RecursionError as error:
        return {"error": f"RecursionError: {error}"}
    except Exception as error:  # whatever Python raises is what ridge must refuse
        case = {"error": f"{type(error).__name__}: {error}"}
        if type(error) is jinja2.exceptions.TemplateError:
            case["message"] = str(error)
        return case


def read_snippets(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".lines":
        blocks = [line for line in text.split("\n") if line.strip() and not line.startswith("# ")]
    else:
        blocks = text.rstrip("\n").split("\n---\n")
    for source in blocks:
        case = {}
        if source.startswith("!unsupported "):
            mark, _, source = source.partition(" !! " if path.suffix == ".lines" else "\n")
            case["unsupported"] = mark.removeprefix("!unsupported ")
        if source.startswith("!raw "):
            source = json.loads(source.removeprefix("!raw "))
        yield case, source


def main():
    cases, bad = [], 0
    for path in sorted((ROOT / "tools/template_snippets").glob("*")):
        for case, source in read_snippets(path):
            if path.stem == "families":
                cases += [{"source": source, "context": c, **render(source, c)} for c in conversations()]
                continue
            result = render(source, CONTEXT)
            if " at 0x" in result.get("text", "") and "unsupported" not in case:
                print(f"prints an address: {source}", file=sys.stderr)
                bad += 1
            cases.append({"source": source, **case, **({} if "unsupported" in case else result)})
    out = ROOT / "tests/goldens/templates/snippets.json"
    out.write_text(json.dumps({"jinja2": jinja2.__version__, "context": CONTEXT, "cases": cases}, ensure_ascii=False, indent=0),
                   encoding="utf-8")
    raised = sum("error" in case for case in cases)
    print(f"{len(cases)} cases, {raised} raise; written to {out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
