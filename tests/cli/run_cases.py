#!/usr/bin/env python3
"""Runs the command line as text: tests/cli/run_cases.py RIDGE [--accept] [CASES.txt…]

A case file (tests/cli/*.txt) is a transcript. Each command is one test:

    # a comment
    $ ridge inspect "$RIDGE_MODEL" | head -n 2     a line for bash; `> ` lines continue it
    SmolLM2 <any>                                  what stdout must hold
    ! note: <number> tensors                       what stderr must hold
    ? 2                                            the exit code, when it is not 0

In expected lines <number> stands for one number (1 180.5, -3e-4), <word> for text without spaces, <any> for anything within
the line, and a line that is only `...` (or `! ...`) for any lines. `\\#`, `\\$`, `\\!`, `\\?`, `\\>` begin lines that start so; blank
lines at the end of a block do not count. Commands of a file share one empty folder, where they run; `ridge` is on the PATH,
RIDGE_MODEL is the example model (where ./run puts it, unless it is set) and CASES this folder. --accept rewrites the
expectations of commands that differ with what they do now: read the diff.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TIMEOUT_S = 120
SPACE = "[ \u00a0\u2009\u202f]"  # a space in a case stands for the narrow ones in numbers, too
WILD = {
    "<number>": rf"[-+]?(?:\d{{1,3}}(?:{SPACE}\d{{3}})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?",
    "<word>": r"\S+",
    "<any>": r".*",
}
ANY_LINES = "..."


@dataclass
class Case:
    line: int
    command: list = field(default_factory=list)
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)
    code: int = 0
    tail: list = field(default_factory=list)  # blank lines and comments after it, kept by --accept


def unescaped(line):
    return line[1:] if re.match(r"\\[#$!?>\\]", line) else line


def escaped(line):
    return "\\" + line if re.match(r"[#$!?>\\]", line) else line


def parse(text):
    """The comments before the first command, and the cases."""
    head, cases = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            cases.append(Case(number, [line[2:]]))
        elif not cases:
            if line and not line.startswith("#"):
                raise SystemExit(f"line {number}: expected a comment or a command: {line}")
            head.append(line)
        elif line.startswith("#"):
            cases[-1].tail.append(line)
        elif cases[-1].tail and line:
            raise SystemExit(f"line {number}: expected output after a comment: {line}")
        elif cases[-1].tail:
            cases[-1].tail.append(line)
        elif line.startswith("> ") and not (cases[-1].stdout or cases[-1].stderr):
            cases[-1].command.append(line[2:])
        elif line.startswith("! ") or line == "!":
            cases[-1].stderr.append(line[2:])
        elif line.startswith("? "):
            cases[-1].code = int(line[2:])
        else:
            cases[-1].stdout.append(unescaped(line))
    for case in cases:
        while case.stdout and not case.stdout[-1]:
            case.tail.insert(0, case.stdout.pop())
    return head, cases


def pattern(line):
    parts = re.split("(" + "|".join(WILD) + ")", line)
    return "".join(f"(?:{WILD[part]})" if part in WILD else re.escape(part).replace(r"\ ", SPACE) for part in parts)


def matches(expected, actual):
    whole = "".join(r"(?:.*\n)*?" if line == ANY_LINES else pattern(line) + r"\n" for line in expected)
    return re.fullmatch(whole, "".join(line + "\n" for line in actual)) is not None


def lines_of(output):
    lines = output.decode("utf-8", "backslashreplace").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    return lines


def run(case, folder, environment):
    """(stdout lines, stderr lines, exit code) of a case's command."""
    command = "\n".join(case.command)
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=TIMEOUT_S, capture_output=True,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return lines_of(late.stdout or b""), lines_of(late.stderr or b"") + [f"still running after {TIMEOUT_S} s"], -1
    return lines_of(done.stdout), lines_of(done.stderr), done.returncode


def rendered(stdout, stderr, code):
    return ([escaped(line) for line in stdout] + [f"! {line}".rstrip() for line in stderr] + ([f"? {code}"] if code else []))


def as_expected(expected, actual):
    """The actual lines, those that some expected line matches written as that line: a diff then shows what differs."""
    return [next((e for e in expected if e != ANY_LINES and re.fullmatch(pattern(e), line)), line) for line in actual]


def differences(case, stdout, stderr, code):
    if matches(case.stdout, stdout) and matches(case.stderr, stderr) and code == case.code:
        return []
    expected = rendered(case.stdout, case.stderr, case.code)
    actual = rendered(as_expected(case.stdout, stdout), as_expected(case.stderr, stderr), code)
    return list(difflib.unified_diff(expected, actual, lineterm="", n=2))[2:]


def run_file(path, ridge, accept):
    """(passed, failed, report) of one case file."""
    head, cases = parse(path.read_text(encoding="utf-8"))
    passed, report, accepted = 0, [], list(head)
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder, "bin")
        tools.mkdir()
        (tools / "ridge").symlink_to(ridge)
        work = Path(folder, "work")
        work.mkdir()
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", CASES=str(FOLDER), LC_ALL="C.UTF-8")
        for case in cases:
            result = run(case, work, environment)
            wrong = differences(case, *result)
            if wrong:
                report += [f"{path}:{case.line}: $ {case.command[0]}"] + [f"  {line}" for line in wrong]
                body = rendered(case.stdout if matches(case.stdout, result[0]) else result[0],
                                case.stderr if matches(case.stderr, result[1]) else result[1], result[2])
            else:
                passed += 1
                body = rendered(case.stdout, case.stderr, case.code)
            accepted += [f"$ {case.command[0]}"] + [f"> {line}" for line in case.command[1:]] + body + case.tail
    if accept:
        path.write_text("\n".join(accepted) + "\n", encoding="utf-8")
    return passed, len(cases) - passed, report


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ridge", type=Path)
    parser.add_argument("cases", type=Path, nargs="*")
    parser.add_argument("--accept", action="store_true")
    arguments = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("RIDGE_MODEL", str(cache / "ridge/SmolLM2-135M-Instruct.Q4_1.gguf"))
    scratch = tempfile.TemporaryDirectory()  # ceilings that a verb measures by itself serve all cases, and stay no longer
    os.environ.setdefault("RIDGE_CEILINGS", str(Path(scratch.name, "ceilings.json")))
    paths = arguments.cases or sorted(FOLDER.glob("*.txt"))
    ridge = arguments.ridge.resolve()
    passed = failed = 0
    with ThreadPoolExecutor(2) as pool:
        for path, (good, bad, report) in zip(paths, pool.map(lambda p: run_file(p, ridge, arguments.accept), paths)):
            print(f"{path.stem:24} {good} passed, {bad} failed")
            for line in report:
                print(line)
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
