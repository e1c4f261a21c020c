"""Check that the parts of a loss add up, for every shipped program and for third-party programs.

    python -m benchmarks.loss_sums [--machine M] [--only TEXT] [OTHERS.toml]

Each program runs on 1 and 8 processors, followed by ``scalegraph analyze --what loss --json``. Prints the sum of the
shares, the sum of the parts beside N T(N) - T(1) (or N T(N) - N T(1) if the work grows with N), and the location with
the largest share. The shares must add up to 1 and the parts to the loss, and the first location must not be the whole
program. OTHERS.toml has tables ``[[program]]`` with ``name``, ``folder``, ``words`` (the arguments of ``scalegraph
simulate``) and, for MPI programs, ``machine``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scalegraph.base.resources import resource_dir
from scalegraph.request.model import programs
from tests.papers.small_inputs import FLAGS, SMALL, source_of

_N = 8
_LIMIT_S = 900
_COMMAND = str(Path(sys.executable).with_name("scalegraph"))


class Case(NamedTuple):
    """A program: its arguments for ``simulate``, its folder and its machine."""

    name: str
    words: list[str]
    folder: Path
    machine: str


def _shipped(machine: str) -> Iterator[Case]:
    here = resource_dir("programs")
    for name, words in SMALL.items():
        flags = [f"--cflags={' '.join(FLAGS[name])}"] if name in FLAGS else []
        yield Case(name, [str(source_of(name)), "--ldflags=-lm", *flags, "--", *words], here, machine)
    for program in programs.available():  # these supply their own arguments
        if program.path.parent.name == "mpi":
            yield Case(f"mpi/{program.name}", [program.name], here, "cluster-hdr")


def _others(path: Path) -> Iterator[Case]:
    for table in tomllib.loads(path.read_text(encoding="utf-8"))["program"]:
        folder = path.parent / table.get("folder", ".")
        yield Case(table["name"], table["words"], folder, table.get("machine", "server-2x32"))


def _call(words: list[str], folder: Path) -> tuple[int, str, str]:
    try:
        made = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return 1, "", f"stopped after {_LIMIT_S} s"
    return made.returncode, made.stdout, made.stderr


def _checked(case: Case, place: Path) -> bool | None:
    """Print a row; return whether the parts add up, or None if the program did not run."""
    study = str(place / f"{case.name.replace('/', '-').replace(' ', '-')}.sgstudy")
    at = case.words.index("--") if "--" in case.words else len(case.words)
    place_of = ["-m", case.machine, "-p", f"1,{_N}", "-o", study]
    simulate = [_COMMAND, "simulate", "--exact", "--json", *case.words[:at], *place_of]
    code, out, err = _call([*simulate, *case.words[at:]], case.folder)
    if code:
        print(f"{case.name:<24} did not run: {err.strip().splitlines()[-1] if err.strip() else code}", flush=True)
        return None
    one, run = sorted(json.loads(out)["runs"], key=lambda run: run["processors"])
    code, out, err = _call([_COMMAND, "analyze", study, "--what", "loss", "--json"], case.folder)
    rows = json.loads(out)["rows"] if not code else []
    share, lost = sum(row["share"] for row in rows), sum(row["loss_s"] for row in rows)
    net = [_N * run["time_s"] - times * one["time_s"] for times in (1, _N)]
    off = min(abs(lost - value) for value in net) / (_N * run["time_s"])
    nothing = {"share": 0, "name": "nothing", "line": 0, "kind": ""}
    first = max(rows, key=lambda row: row["share"], default=nothing)
    right = bool(rows) and abs(share - 1) < 1e-9 and off < 1e-6 and first["kind"] != "program"
    print(
        f"{case.name:<24} {'adds up' if right else 'DOES NOT ADD UP'}: shares {share:.9f}, parts {lost:.6g} s beside "
        f"{net[0]:.6g} s, first {first['share']:.1%} {first['name']} line {first['line']}, "
        f"E = {one['time_s'] / _N / run['time_s']:.2f}",
        flush=True,
    )
    return right


def main() -> None:
    """Run the shipped programs, and those in OTHERS.toml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("others", nargs="?", type=Path)
    parser.add_argument("--machine", default="server-2x32")
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    cases = [*_shipped(chosen.machine), *(_others(chosen.others) if chosen.others else ())]
    with tempfile.TemporaryDirectory() as place:
        found = [_checked(case, Path(place)) for case in cases if chosen.only in case.name]
    counts = [found.count(how) for how in (True, False, None)]
    print(f"{len(found)} programs: {counts[0]} add up, {counts[1]} do not, {counts[2]} did not run")


if __name__ == "__main__":
    main()
