"""Third-party MPI programs, simulated and with a native MPI on this host: the tables of docs/PROGRAMS_OF_OTHERS.md.

    python benchmarks/mpi_programs_of_others.py DESCRIPTION.toml DIRECTORY [--mpiexec MPIEXEC] [--only TEXT] \
        [--counts 1,3,16,64,256] [--compare 2,4] [--again 16] [--machine cluster-hdr] [--limit 300] [--json FILE]

DIRECTORY has two trees of the same programs, built beforehand as their own documentation says: ``simulated`` with
scalegraph-mpicc and the other wrappers, ``native`` with the compilers of an MPI. You write DESCRIPTION.toml. Its tables
``[[suite]]`` have ``title``, ``repository``, ``folder`` (below each tree) and ``[[suite.program]]`` with these keys:
``name``; ``folder``, where it runs; ``run``, its command line; ``counts``, the numbers of ranks that it accepts
(default: all); ``verified``, a pattern that the output of a correct run contains; ``wrong``, a pattern that it must not
contain; ``compare = false``, if two native runs never print the same; ``ignore``, ``ordered``, ``strip``, ``tolerance``
as in `programs_of_others`; ``inputs``, files to write before a run; ``reads``, files whose content counts as output;
``threads``, if it uses OpenMP: it then also runs with four threads per process. A key of a suite is the default for its
programs. In every text, {N} stands for the number of ranks, {X}, {Y} and {Z} for three factors of it, {P} and {Q} for
two.

A run passes if it ends normally, its output contains ``verified`` and not ``wrong``, and its accounts add up to the
number of processors times the elapsed cycles; for the counts of ``--compare``, the output must also equal a native
run's. A run is refused if the simulator reports something as unsupported. For the counts of ``--again``, the run is
repeated twice, once with a trace: every number in the record except the host's time must be the same, and
``traces_of_others.py`` checks the trace.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from programs_of_others import CUT, NUMBER, Program, difference, numbers

SCRIPTS = Path(sys.executable).parent
LIMIT_S = 300
THREADS = 4
TRACE_LIMIT = "64M"  # bytes of events; longer traces are cut here and checked less thoroughly
SET_APART = {"host_s", "trace", "warnings"}


@dataclass
class MpiProgram:
    """One program of a suite, with the keys of the description."""

    suite: str
    name: str
    run: list[str]
    folder: str = "."
    counts: list[int] = field(default_factory=list)
    verified: str = ""
    wrong: str = ""
    compare: bool = True
    ignore: str = ""
    ordered: bool = True
    strip: str = ""
    tolerance: float = 1e-6
    memory: str = "4G"
    threads: bool = False
    inputs: dict[str, str] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    accept_exit: list[int] = field(default_factory=list)


@dataclass
class MpiOutcome:
    """The outcome of a run: *verdict* is ``passed``, ``failed`` or ``refused``; *again* is ``same`` or what differs."""

    suite: str
    program: str
    ranks: int
    verdict: str
    reason: str = ""
    again: str = ""
    trace: str = ""
    threads: int = 1
    host_s: float = 0.0
    cycles: int = 0


def factors(number: int, parts: int) -> list[int]:
    """Return *parts* factors of *number*, as similar as possible, the largest first."""
    found = [1] * parts
    rest, prime = number, 2
    primes = []
    while rest > 1:
        while rest % prime == 0:
            primes.append(prime)
            rest //= prime
        prime += 1
    for one in reversed(primes):
        found[found.index(min(found))] *= one
    return sorted(found, reverse=True)


def filled(text: str, ranks: int) -> str:
    """Replace {N}, {X}, {Y}, {Z}, {P} and {Q} in *text* for *ranks* ranks."""
    x, y, z = factors(ranks, 3)
    p, q = factors(ranks, 2)
    for mark, number in (("N", ranks), ("X", x), ("Y", y), ("Z", z), ("P", q), ("Q", p)):
        text = text.replace(f"{{{mark}}}", str(number))
    return text


def programs(suite: dict[str, Any]) -> list[MpiProgram]:
    """Return the programs of *suite*, with the suite's keys as defaults."""
    known = set(MpiProgram.__dataclass_fields__) - {"suite", "name", "folder"}
    shared = {key: value for key, value in suite.items() if key in known}
    found = []
    for one in suite["program"]:
        told = {**shared, **one, "folder": str(Path(suite.get("folder", ".")) / one.get("folder", "."))}
        told["run"] = [word.replace("{program}", told["name"]) for word in told["run"]]
        found.append(MpiProgram(suite=suite["title"], **told))
    return found


def prepare(program: MpiProgram, place: Path, ranks: int) -> None:
    """Write a run's input files, and delete result files of an earlier run."""
    for name, content in program.inputs.items():
        (place / name).write_text(filled(content, ranks))
    for pattern in program.reads:
        for file in place.glob(pattern):
            file.unlink()


def written(program: MpiProgram, place: Path, output: str) -> str:
    """Return *output*, followed by the contents of the run's result files."""
    files = sorted(file for pattern in program.reads for file in place.glob(pattern))
    return "\n".join([output, *(file.read_text(errors="replace") for file in files)])


def simulated(
    program: MpiProgram, tree: Path, ranks: int, machine: str, *kept: str, threads: int = 1, limit_s: int = LIMIT_S
) -> dict[str, Any]:
    """Return the record of the simulated run; if there is none, a record whose ``message`` says why."""
    place = tree / program.folder
    prepare(program, place, ranks)
    executable, *arguments = [filled(word, ranks) for word in program.run]
    command = [str(SCRIPTS / "scalegraph"), "simulate", executable, "-m", machine, "-p", str(ranks * threads)]
    command += ["--no-reference", "--json", "--timeout", str(limit_s), "--memory", program.memory]
    command += ["--threads-per-process", str(threads)] if threads > 1 and ranks * threads > 1 else []
    command += [word for code in program.accept_exit for word in ("--accept-exit", str(code))]
    ended = subprocess.run(
        [*command, *kept, "--", *arguments],
        cwd=place,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    try:
        run: dict[str, Any] = json.loads(ended.stdout)["runs"][0]
    except (ValueError, LookupError):
        said = ended.stderr.strip().splitlines() or ["no error message"]
        return {"status": "failed", "message": said[-1], "stdout": "", "stderr": ""}
    run["output"] = written(program, place, run["stdout"])
    return run


def natively(program: MpiProgram, tree: Path, ranks: int, mpiexec: str, limit_s: int = LIMIT_S) -> str | None:
    """Return the output of the native run; None if it timed out or failed."""
    place = tree / program.folder
    prepare(program, place, ranks)
    words = [mpiexec, "-n", str(ranks), *(filled(word, ranks) for word in program.run)]
    environment = {"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin", "HOME": str(place)}
    try:
        ended = subprocess.run(
            words,
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=limit_s,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    return written(program, place, ended.stdout) if ended.returncode in (0, *program.accept_exit) else None


def compared(program: MpiProgram, ours: str, theirs: str) -> str:
    """Return the first difference between two outputs; empty if there is none."""
    alike = Program(program.suite, program.name, [], ignore=program.ignore, ordered=program.ordered)
    alike.strip, alike.tolerance = program.strip, program.tolerance
    return difference(ours, theirs, alike)


def judge(program: MpiProgram, run: dict[str, Any], theirs: str | None) -> tuple[str, str]:
    """Return the verdict on the simulated *run*, and the reason; *theirs* is a native run's output, if there is one."""
    if run["status"] != "ok":
        said = (run.get("message") or run["status"]).splitlines()[0]
        return ("refused" if run["status"] == "unsupported" else "failed"), said
    if sum(run["leaves"].values()) != run["processors"] * run["time_cycles"]:
        return "failed", "the accounts do not add up to processors times elapsed cycles"
    output = run["output"] + run["stderr"]
    if program.wrong and (found := re.search(program.wrong, output)):
        return "failed", f'it prints "{found[0]}"'
    if program.verified and not re.search(program.verified, output):
        return "failed", "its own check does not confirm the result"
    if theirs is not None and (differs := compared(program, run["output"], theirs)):
        return "failed", differs
    return "passed", ""


def again(
    program: MpiProgram, tree: Path, run: dict[str, Any], ranks: int, machine: str, limit_s: int
) -> tuple[str, str]:
    """Repeat the run twice, once with a trace; return "same" or what differs, and "whole", "cut" or the fault."""
    second = simulated(program, tree, ranks, machine, limit_s=limit_s)
    other = sorted(name for name in run.keys() - SET_APART if run[name] != second.get(name))
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "run.sgstudy"
        kept = ("-o", str(study), "--trace=all", "--trace-limit", TRACE_LIMIT)
        third = simulated(program, tree, ranks, machine, *kept, limit_s=limit_s)
        changed = sorted(name for name in run.keys() - SET_APART if run[name] != third.get(name))
        if changed:
            return f"differs: {', '.join(other)}" if other else "same", f"differs with a trace: {', '.join(changed)}"
        looked = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("traces_of_others.py")), str(study)],
            capture_output=True,
            text=True,
            check=False,
        )
    said = [*looked.stdout.splitlines(), *looked.stderr.splitlines()[-1:], "no error message"][0]
    trace = {0: "whole", CUT: "cut"}.get(looked.returncode, said)
    return f"differs: {', '.join(other)}" if other else "same", trace


def measure(suite: dict[str, Any], given: argparse.Namespace, outcomes: list[MpiOutcome]) -> None:
    """Add the outcome of each run of *suite* to *outcomes*; existing outcomes are reused."""
    have = {(one.suite, one.program, one.ranks, one.threads) for one in outcomes}
    ours, native = given.directory / "simulated", given.directory / "native"
    for program in programs(suite):
        plain = [(ranks, 1) for ranks in sorted({*given.counts, *given.compare, *program.counts})]
        if program.counts:
            plain = [(ranks, 1) for ranks in program.counts]
        hybrid = [(ranks, THREADS) for ranks, _ in plain if ranks in given.again] if program.threads else []
        for ranks, threads in plain + hybrid:
            if (program.suite, program.name, ranks, threads) in have:
                continue
            theirs = None
            if program.compare and given.mpiexec and ranks in given.compare:
                theirs = natively(program, native, ranks, given.mpiexec, given.limit)
            run = simulated(program, ours, ranks, given.machine, threads=threads, limit_s=given.limit)
            verdict, reason = judge(program, run, theirs if threads == 1 else None)
            if theirs is None and program.compare and given.mpiexec and ranks in given.compare:
                reason += "; the native run failed"
            made = MpiOutcome(program.suite, program.name, ranks, verdict, reason, threads=threads)
            made.host_s, made.cycles = round(run.get("host_s") or 0, 3), run.get("time_cycles") or 0
            if verdict == "passed" and ranks in given.again and threads == 1:
                made.again, made.trace = again(program, ours, run, ranks, given.machine, given.limit)
            outcomes.append(made)
            print(
                f"{program.suite}: {program.name} {ranks} x {threads}: {verdict} {reason} {made.again} {made.trace} "
                f"{made.host_s:.1f} s",
                file=sys.stderr,
                flush=True,
            )
            if given.json:
                given.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))


def table(suites: list[dict[str, Any]], given: argparse.Namespace, outcomes: list[MpiOutcome]) -> list[str]:
    """Return the table of the suites: runs passed out of runs made, for each number of ranks."""
    counts = sorted({*given.counts, *given.compare})
    heads = ["suite", "programs", *map(str, counts), "other", f"x {THREADS}", "same again", "traces: whole, cut, wrong"]
    text = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for suite in suites:
        mine = [one for one in outcomes if one.suite == suite["title"]]
        groups = [[one for one in mine if one.ranks == count and one.threads == 1] for count in counts]
        groups.append([one for one in mine if one.ranks not in counts and one.threads == 1])
        groups.append([one for one in mine if one.threads > 1])
        cells = [f"{sum(one.verdict == 'passed' for one in group)}/{len(group)}" if group else "" for group in groups]
        twice = [one for one in mine if one.again]
        traces = [one.trace for one in twice]
        whole, cut = traces.count("whole"), traces.count("cut")
        cells += [f"{sum(one.again == 'same' for one in twice)}/{len(twice)}"]
        cells += [f"{whole}, {cut}, {len(traces) - whole - cut}"]
        name = f"{suite['title']} ({suite['repository']})"
        text.append(f"| {name} | {len(programs(suite))} | {' | '.join(cells)} |")
    return text


def faults(outcomes: list[MpiOutcome]) -> list[str]:
    """List the runs that did not pass, by verdict and reason, and the faults of repeated and traced runs."""
    listed: dict[tuple[str, str, str], list[str]] = {}
    for one in outcomes:
        if one.verdict != "passed":
            reason = NUMBER.sub("..", one.reason) if one.verdict == "failed" else one.reason
            listed.setdefault((one.suite, one.verdict, reason), []).append(f"{one.program} on {one.ranks}")
    lines = [f"- {suite}, {verdict}: {'; '.join(many)}: {reason}" for (suite, verdict, reason), many in listed.items()]
    lines += [
        f"- {one.suite}: {one.program} on {one.ranks}: {said}"
        for one in outcomes
        for said in (one.again, one.trace)
        if said not in ("", "same", "whole", "cut")
    ]
    return ["", *lines]


def main() -> int:
    """Run the chosen suites and print the tables; return 1 if a run failed or a trace is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description", type=Path, help="the TOML file that describes the programs")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--mpiexec", default="", help="mpiexec of the MPI that built the native tree")
    parser.add_argument("--only", default="", help="only suites whose title contains this")
    parser.add_argument("--counts", type=numbers, default=[1, 3, 16, 64, 256], help="ranks (default: 1,3,16,64,256)")
    parser.add_argument("--compare", type=numbers, default=[2, 4], help="ranks of native runs (default: 2,4)")
    parser.add_argument("--again", type=numbers, default=[16], help="ranks of repeated and traced runs (default: 16)")
    parser.add_argument("--machine", default="cluster-hdr")
    parser.add_argument("--limit", type=int, default=LIMIT_S, help=f"seconds per run on this host (default: {LIMIT_S})")
    parser.add_argument("--json", type=Path, help="save outcomes in this file; reuse those already there")
    given = parser.parse_args()
    given.directory = given.directory.resolve()
    suites = [one for one in tomllib.loads(given.description.read_text())["suite"] if given.only in one["title"]]
    outcomes: list[MpiOutcome] = []
    if given.json and given.json.exists():
        outcomes = [MpiOutcome(**one) for one in json.loads(given.json.read_text())]
    for suite in suites:
        measure(suite, given, outcomes)
    print("\n".join([*table(suites, given, outcomes), *faults(outcomes)]))
    return any(one.verdict == "failed" or one.trace not in ("", "whole", "cut") for one in outcomes)


if __name__ == "__main__":
    sys.exit(main())
