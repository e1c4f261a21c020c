"""Compare third-party test programs of one file each: native with gcc, and on a simulated machine.

    python benchmarks/tests_of_others.py DIRECTORY [--include DIR ..] [--only PART] [--threads 8] [--json FILE]

Every C, C++ or Fortran source below DIRECTORY is one test, which passes if it ends with exit code 0. Each is compiled
and run twice with the same options: with gcc and libgomp on this host, where target regions fall back to the host, and
with ScaleGraph on a simulated server. For each folder of DIRECTORY and each language, the table counts the tests, those
that pass natively, and those of them that also pass simulated. Below the table, the script lists every test that passes
natively but fails simulated, with the first line of the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from click.testing import CliRunner

from scalegraph.cli.simulate import simulate as scalegraph

COMPILERS = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}
LIMIT_S = 120


@dataclass
class Outcome:
    """The outcome of one test: ``passes``, ``does not compile``, ``fails`` or ``does not end``."""

    test: str
    folder: str
    language: str
    native: str
    simulated: str = ""
    reason: str = ""


def options(include: list[Path], source: Path) -> list[str]:
    """Return the compiler options, which are the same for both builds."""
    fortran = ["-ffree-line-length-none", "-cpp"] if source.suffix.lower() == ".f90" else []
    return [*fortran, "-O1", "-fopenmp", *(f"-I{place}" for place in (*include, source.parent)), "-w"]


def natively(include: list[Path], source: Path, scratch: Path, threads: int) -> str:
    """Compile *source* with gcc and run it; return the outcome."""
    program = scratch / "native"
    words = [COMPILERS[source.suffix.lower()], *options(include, source), str(source), "-o", str(program), "-lm"]
    if subprocess.run(words, capture_output=True, cwd=scratch, check=False).returncode:
        return "does not compile"
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    try:
        ended = subprocess.run(
            [program], capture_output=True, cwd=scratch, env=environment, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    finally:
        program.unlink()
    return "passes" if ended.returncode == 0 else "fails"


def simulated(include: list[Path], source: Path, threads: int) -> tuple[str, str]:
    """Run *source* on a simulated machine; return the outcome and the first line of the reason."""
    flags = " ".join(word for word in options(include, source) if word != "-fopenmp")
    words = [str(source), "-m", "server-2x32-inorder", "-p", str(threads), "--no-reference", "--json"]
    words += [f"--cflags={flags}", "--ldflags=-lm", "--timeout", str(LIMIT_S)]
    ended = CliRunner().invoke(scalegraph, words)
    try:
        run = json.loads(ended.stdout)["runs"][0]
    except (ValueError, LookupError):
        lines = [line for line in (ended.stderr or str(ended.exception)).splitlines() if "error" in line.lower()]
        return "does not compile", (lines or ended.stderr.splitlines() or ["no error message"])[0]
    if ended.exit_code == 0 and run["exit_code"] == 0:
        return "passes", ""
    return "fails", (run.get("message") or run.get("stdout") or "").strip().partition("\n")[0]


def tests(directory: Path, only: str) -> list[Path]:
    """Return the test sources, sorted by path."""
    found = [path for path in sorted(directory.rglob("*")) if path.suffix.lower() in COMPILERS]
    return [path for path in found if only in str(path)]


def table(outcomes: list[Outcome]) -> str:
    """Return the counts by folder and language, and every test that fails only simulated."""
    total, native, both = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in outcomes:
        key = (one.folder, one.language)
        total[key] += 1
        native[key] += one.native == "passes"
        both[key] += one.native == "passes" and one.simulated == "passes"
    lines = [
        "| folder | language | tests | pass natively (gcc) | of these pass simulated |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {key[0]} | {key[1]} | {total[key]} | {native[key]} | {both[key]} |" for key in sorted(total)]
    lines.append(f"| all | | {total.total()} | {native.total()} | {both.total()} |")
    failed = [one for one in outcomes if one.native == "passes" and one.simulated != "passes"]
    lines += ["", *(f"{one.test}: {one.simulated}: {one.reason}" for one in failed)]
    return "\n".join(lines)


def main() -> int:
    """Run the tests and print the table; return 1 if a test that passes natively fails simulated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--include", type=Path, action="append", default=[], help="a directory of headers; repeatable")
    parser.add_argument("--only", default="", help="only tests whose path contains this")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--json", type=Path, help="save outcomes in this file; reuse those already there")
    given = parser.parse_args()
    directory = given.directory.resolve()
    include = [place.resolve() for place in given.include]
    outcomes: list[Outcome] = []
    if given.json and given.json.exists():
        outcomes = [Outcome(**one) for one in json.loads(given.json.read_text())]
    known = {one.test for one in outcomes}
    for source in tests(directory, given.only):
        folder, name = source.relative_to(directory).parts[0], str(source.relative_to(directory))
        if name in known:
            continue
        with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):  # compilers leave module files there
            outcome = Outcome(name, folder, source.suffix[1:], natively(include, source, Path(scratch), given.threads))
            if outcome.native == "passes":
                outcome.simulated, outcome.reason = simulated(include, source, given.threads)
        outcomes.append(outcome)
        print(f"{name}: {outcome.native}; {outcome.simulated} {outcome.reason}", file=sys.stderr, flush=True)
        if given.json:
            given.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
    print(table(outcomes))
    return any(one.native == "passes" and one.simulated != "passes" for one in outcomes)


if __name__ == "__main__":
    sys.exit(main())
