"""Third-party programs, run natively and on a simulated machine: the table of docs/PROGRAMS_OF_OTHERS.md.

    python benchmarks/programs_of_others.py DESCRIPTION.toml DIRECTORY [--only TEXT] [--counts 1,3,16,64,256] \
        [--traced 16] [--machine ksr1] [--json FILE]

You write DESCRIPTION.toml, which says how to build, run and check each program; DIRECTORY holds the programs' folders.
In every text of the description, {N} stands for the number of processors (threads in a native run); in ``build``, {cc},
{cxx} and {fc} stand for the compilers. Tables ``[[suite]]`` have ``title``, ``repository``, ``folder`` (below
DIRECTORY), ``build`` (a shell command, run once for each copy), and either ``programs`` (names) or
``[[suite.program]]`` with these keys: ``name``; ``folder``, where it runs; ``run``, its command line; ``stdin``, text;
``counts``, if it does not accept every number of processors; ``accept_exit``, accepted exit codes; ``any_exit``, if the
exit code means nothing; and ``check``:

- "own": a line of the output matches ``verified``;
- "native": output, ``files`` and exit code equal those of a native run with the same number of threads (lines that
  match ``ignore`` are left out, ``ordered = false`` sorts the lines, ``tolerance`` is for numbers);
- "ends": the run ends.

A key of a suite is the default for its programs.

Each suite is copied twice. One copy is built with gcc and g++, the other with ``scalegraph-gcc`` and
``scalegraph-g++``; sources and makefiles are not changed. Every program runs on each number of processors. A run is
verified if it ends normally, its result passes the check, and its accounts are right: the leaves of all processors add
up to the number of processors times the elapsed cycles. For the counts of ``--traced``, each successful run is repeated
with everything traced. Every number in the record except the host's time must be the same, the output must pass the
same check, and ``traces_of_others.py`` checks the trace (fully, if the trace is complete). Prints the table of the
suites, the speedup of every program, and each faulty run or trace with the reason. ``--json`` saves every outcome; with
the same file, a later call continues from there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SCRIPTS = Path(sys.executable).parent
CUT = 3  # exit code of traces_of_others.py
NATIVE = {"{cc}": "gcc", "{cxx}": "g++", "{fc}": "gfortran"}
SIMULATED = {
    "{cc}": str(SCRIPTS / "scalegraph-gcc"),
    "{cxx}": str(SCRIPTS / "scalegraph-g++"),
    "{fc}": str(SCRIPTS / "scalegraph-gfortran"),
}
LIMIT_S = 300
TRACE_LIMIT = "160M"  # bytes of events; longer traces are cut here and checked less thoroughly
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass
class Program:
    """One program of a suite, with the keys of the description."""

    suite: str
    name: str
    run: list[str]
    folder: str = "."
    stdin: str = ""
    check: str = "native"
    verified: str = ""
    ignore: str = ""
    ordered: bool = True
    strip: str = ""
    tolerance: float = 0.0
    stream: str = "stdout"
    memory: str = "4G"
    files: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    compare_with: int = 0
    accept_exit: list[int] = field(default_factory=list)
    any_exit: bool = False


@dataclass
class Outcome:
    """The outcome of a run: *reason* if not verified, *cycles* of the whole run, *trace* whole, cut or a fault."""

    suite: str
    program: str
    processors: int
    reason: str
    cycles: int = 0
    trace: str = ""

    @property
    def verified(self) -> bool:
        """Whether the run passed every check."""
        return not self.reason


def programs(suite: dict[str, Any]) -> list[Program]:
    """Return the programs of *suite*, with the suite's keys as defaults."""
    known = set(Program.__dataclass_fields__) - {"suite", "name", "folder"}
    shared = {key: value for key, value in suite.items() if key in known}
    listed = suite.get("program") or [{"name": name} for name in suite["programs"]]
    found = []
    for one in listed:
        told = {"folder": suite.get("folder_of_programs", "."), **shared, **one}
        told["run"] = [word.replace("{program}", told["name"]) for word in told["run"]]
        found.append(Program(suite=suite["title"], **told))
    return found


def build(suite: dict[str, Any], source: Path, target: Path, compilers: dict[str, str]) -> None:
    """Copy the suite's checkout to *target* and build it there with *compilers*; the log is in *target*, too."""
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    command = suite["build"]
    for mark, compiler in compilers.items():
        command = command.replace(mark, compiler)
    log = target / "build-of-this-script.log"
    with log.open("w") as out:
        subprocess.run(
            ["bash", "-c", command], cwd=target, stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False
        )


def words(program: Program, count: int) -> list[str]:
    """Return the program's command line for *count* processors."""
    return [word.replace("{N}", str(count)) for word in program.run]


def natively(program: Program, tree: Path, count: int) -> tuple[str, int | None]:
    """Return the output and exit code of the native run; the exit code is None if the run did not end in time."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(count)}
    try:
        ended = subprocess.run(
            words(program, count),
            cwd=tree / program.folder,
            env=environment,
            input=program.stdin.replace("{N}", str(count)),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return "", None
    return printed(program, ended.stdout, ended.stderr), ended.returncode


def printed(program: Program, stdout: str, stderr: str) -> str:
    """Return the part of the output that is compared: stdout, or both streams."""
    return stdout if program.stream == "stdout" else f"{stdout}\n{stderr}"


def simulated(program: Program, tree: Path, count: int, machine: str, *kept: str) -> dict[str, Any]:
    """Return the record of the simulated run; if there is none, a record whose ``message`` says why.

    *kept* are options that save the run or its trace.
    """
    folder = tree / program.folder
    executable, *arguments = words(program, count)
    with tempfile.NamedTemporaryFile("w", suffix=".stdin") as text:
        text.write(program.stdin.replace("{N}", str(count)))
        text.flush()
        command = [str(SCRIPTS / "scalegraph"), "simulate", executable, "-m", machine, "-p", str(count)]
        command += ["--no-reference", "--json", "--timeout", str(LIMIT_S), "--memory", program.memory]
        accepted = range(1, 256) if program.any_exit else program.accept_exit
        command += [word for code in accepted for word in ("--accept-exit", str(code))]
        command += ["--stdin", text.name, *kept, "--", *arguments]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    try:
        run: dict[str, Any] = json.loads(ended.stdout)["runs"][0]
    except (ValueError, LookupError):
        said = ended.stderr.strip().splitlines() or ["no error message"]
        return {"status": "failed", "message": said[-1]}
    return run


def lines(text: str, program: Program) -> list[str]:
    """Return the lines of *text* to compare."""
    kept = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    kept = [line for line in kept if not (program.ignore and re.search(program.ignore, line))]
    kept = [re.sub(program.strip, "", line) for line in kept] if program.strip else kept
    return kept if program.ordered else sorted(kept)


def difference(ours: str, theirs: str, program: Program) -> str:
    """Return the first difference between two outputs beyond the program's tolerance; empty if there is none."""
    left, right = lines(ours, program), lines(theirs, program)
    if len(left) != len(right):
        return f"{len(left)} lines of output, natively {len(right)}"
    for one, other in zip(left, right, strict=True):
        if one == other:
            continue
        numbers = [[float(text) for text in NUMBER.findall(line)] for line in (one, other)]
        alike = NUMBER.sub("#", one) == NUMBER.sub("#", other) and len(numbers[0]) == len(numbers[1])
        near = alike and all(
            math.isclose(a, b, rel_tol=program.tolerance, abs_tol=program.tolerance)
            for a, b in zip(*numbers, strict=True)
        )
        if not near:
            return f'"{one[:60]}", natively "{other[:60]}"'
    return ""


def judge(program: Program, run: dict[str, Any], native: Path, count: int) -> str:
    """Return why the simulated *run* is not verified; empty if it is."""
    if run["status"] != "ok":
        said = f"{run['status']}: {run.get('message') or 'no error message'}".splitlines()[0]
        return f"{said}; {how_natively(program, native, count)}"
    if sum(run["leaves"].values()) != run["processors"] * run["time_cycles"]:
        return "the leaves do not add up to processors times elapsed cycles"
    if program.check == "own":
        found = re.search(program.verified, run["stdout"] + run["stderr"])
        return "" if found else "its own check does not confirm the result"
    if program.check == "native":
        theirs, code = natively(program, native, program.compare_with or count)
        if code is None:
            return "the native run does not end in time"
        if code != run["exit_code"] and not program.any_exit:
            return f"exit code {run['exit_code']}, natively {code}"
        differs = difference(printed(program, run["stdout"], run["stderr"]), theirs, program)
        return f"{differs}; {how_natively(program, native, count)}" if differs else ""
    return ""


def how_natively(program: Program, native: Path, count: int) -> str:
    """Return how three native runs end; a program that also fails natively is not the simulator's fault."""
    many = [natively(program, native, program.compare_with or count) for _ in range(3)]
    codes = {code for _, code in many}
    if None in codes:
        return "natively: does not end in time"
    if any(code and not program.any_exit and code not in program.accept_exit for code in codes):
        return f"natively: exit code {', '.join(map(str, sorted(code for code in codes if code)))}"
    alike = not any(difference(text, many[0][0], program) for text, _ in many[1:])
    one = natively(program, native, 1)[0]
    if not alike or (program.check == "native" and difference(one, many[0][0], program)):
        return "natively: results differ from run to run, or with the number of threads"
    return "natively: correct"


def traced(program: Program, tree: Path, run: dict[str, Any], machine: str) -> str:
    """Repeat *run* with a trace; return "whole" or "cut" if the results agree, otherwise what differs."""
    told = {"host_s", "trace", "warnings", "stdout", "stderr"} | ({"exit_code"} if program.any_exit else set())
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "run.sgstudy"
        kept = ("-o", str(study), "--trace=all", "--trace-limit", TRACE_LIMIT)
        again = simulated(program, tree, run["processors"], machine, *kept)
        other = sorted(name for name in run.keys() - told if run[name] != again.get(name))
        if other:
            return f"differs with a trace: {', '.join(other)}"
        if program.check == "own" and not re.search(program.verified, again["stdout"] + again["stderr"]):
            return "with a trace, its own check fails"
        texts = [printed(program, one["stdout"], one["stderr"]) for one in (again, run)]
        if program.check != "own" and (differs := difference(*texts, program)):
            return f"with a trace: {differs}"
        looked = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("traces_of_others.py")), str(study)],
            capture_output=True,
            text=True,
            check=False,
        )
    if looked.returncode in (0, CUT):
        return "cut" if looked.returncode else "whole"
    return ([*looked.stdout.splitlines(), *looked.stderr.splitlines()[-1:]] or ["no error message"])[0]


def measure(suite: dict[str, Any], given: argparse.Namespace, outcomes: list[Outcome], scratch: Path) -> None:
    """Build *suite* twice and add the outcome of each run to *outcomes*; existing outcomes are reused."""
    have = {(one.suite, one.program, one.processors) for one in outcomes}
    todo = [
        (program, count)
        for program in programs(suite)
        for count in given.counts
        if (not program.counts or count in program.counts) and (suite["title"], program.name, count) not in have
    ]
    if not todo:
        return
    native, ours = scratch / "native", scratch / "simulated"
    build(suite, given.directory / suite["folder"], native, NATIVE)
    build(suite, given.directory / suite["folder"], ours, SIMULATED)
    for program, count in todo:
        run = simulated(program, ours, count, given.machine)
        outcome = Outcome(program.suite, program.name, count, judge(program, run, native, count))
        outcome.cycles = run.get("time_cycles") or 0
        if count in given.traced and run["status"] == "ok":
            outcome.trace = traced(program, ours, run, given.machine)
        outcomes.append(outcome)
        print(f"{program.name} {count}: {outcome.reason or 'verified'} {outcome.trace}", file=sys.stderr, flush=True)
        if given.json:
            given.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))


def table(suites: list[dict[str, Any]], given: argparse.Namespace, outcomes: list[Outcome]) -> list[str]:
    """Return the table of the suites: runs verified out of runs made, for each number of processors; and traces."""
    counts = given.counts
    text = [
        f"| suite | programs | {' | '.join(map(str, counts))} | traces: whole, cut, wrong | checked by |",
        "| --- " * (len(counts) + 4) + "|",
    ]
    for suite in suites:
        listed = programs(suite)
        cells = []
        for count in counts:
            mine = [one for one in outcomes if one.suite == suite["title"] and one.processors == count]
            cells.append(f"{sum(one.verified for one in mine)}/{len(mine)}")
        traces = [one.trace for one in outcomes if one.suite == suite["title"] and one.trace]
        whole, cut = traces.count("whole"), traces.count("cut")
        cells.append(f"{whole}, {cut}, {len(traces) - whole - cut}")
        checks = [f"{kind}: {sum(one.check == kind for one in listed)}" for kind in ("own", "native", "ends")]
        checks = [check for check in checks if not check.endswith(": 0")]
        name = f"{suite['title']} ({suite['repository']})"
        text.append(f"| {name} | {len(listed)} | {' | '.join(cells)} | {', '.join(checks)} |")
    return text


def speedups(suites: list[dict[str, Any]], counts: list[int], outcomes: list[Outcome]) -> list[str]:
    """Return the whole-run speedup of every program over the first count of processors; one paragraph per suite."""
    cycles = {(one.suite, one.program, one.processors): one.cycles for one in outcomes if one.cycles}
    text = ["", f"Speedups of the whole run on {', '.join(map(str, counts[1:]))} processors:", ""]
    for suite in suites:
        parts = []
        for program in programs(suite):
            base = cycles.get((program.suite, program.name, counts[0]), 0)
            many = [cycles.get((program.suite, program.name, count), 0) for count in counts[1:]]
            parts.append(f"{program.name} {', '.join(f'{base / one:.3g}' if base and one else '-' for one in many)}")
        line = f"- *{suite['title']}*: {'; '.join(parts)}"
        text += textwrap.wrap(line, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return text


def faults(outcomes: list[Outcome]) -> list[str]:
    """List the programs with unverified runs, by their first fault and the native result, and the faulty traces."""
    programs_of: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        if not one.verified:
            programs_of.setdefault((one.suite, one.program), []).append(one)
    listed: dict[tuple[str, str], list[str]] = {}
    for (suite, program), several in programs_of.items():
        what, _, natively_so = several[0].reason.rpartition("; natively: ")
        said = f"{'different output' if what.startswith(chr(34)) else what}; natively: {natively_so}"
        counts = ", ".join(str(one.processors) for one in several)
        listed.setdefault((suite, said), []).append(f"{program} on {counts}")
    text = ["", "Not verified:" if listed else "All runs are verified.", ""]
    lines = [f"- {suite}: {'; '.join(several)}: {said}" for (suite, said), several in listed.items()]
    wrong = [one for one in outcomes if one.trace not in ("", "whole", "cut")]
    lines += [f"- trace of {one.suite}: {one.program} on {one.processors}: {one.trace}" for one in wrong]
    return text + [part for line in lines for part in textwrap.wrap(line, 120, subsequent_indent="  ")]


def numbers(text: str) -> list[int]:
    """Return the integers of a comma-separated list."""
    return [int(word) for word in text.split(",") if word]


def main() -> int:
    """Run the chosen suites and print the tables; return 1 if a run is not verified or a trace is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description", type=Path, help="the TOML file that describes the programs")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="only suites whose title contains this")
    parser.add_argument("--counts", type=numbers, default=[1, 3, 16, 64], help="processors (default: 1,3,16,64)")
    parser.add_argument("--traced", type=numbers, default=[], help="processor counts of runs to repeat with a trace")
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--json", type=Path, help="save outcomes in this file; reuse those already there")
    given = parser.parse_args()
    given.directory = given.directory.resolve()
    described = tomllib.loads(given.description.read_text())["suite"]
    suites = [suite for suite in described if given.only in suite["title"]]
    outcomes: list[Outcome] = []
    if given.json and given.json.exists():
        outcomes = [Outcome(**one) for one in json.loads(given.json.read_text())]
    for suite in suites:
        with tempfile.TemporaryDirectory() as scratch:
            measure(suite, given, outcomes, Path(scratch))
    print("\n".join(table(suites, given, outcomes)))
    print("\n".join(speedups(suites, given.counts, outcomes)))
    print("\n".join(faults(outcomes)))
    return any(not one.verified or one.trace not in ("", "whole", "cut") for one in outcomes)


if __name__ == "__main__":
    sys.exit(main())
