"""The words of a command, and times printed by programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.link import RunOptions
from scalegraph.link.commands import reported, words


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("-T{N}", "-T4"),
        ("{N}{N} {n}", "44 100"),
        ("{x}", "0.5"),
        ('${N} ${HOME} {} {print $1} {"a": 1}', '${N} ${HOME} {} {print $1} {"a": 1}'),
        ("{{N}} {{name}}", "{N} {name}"),
        ("{{json .}}", "{{json .}}"),
    ],
)
def test_names_in_braces_are_filled_and_other_braces_stay(text: str, filled: str) -> None:
    assert words.fill(text, {"N": 4, "n": 100, "x": 0.5}) == filled


def test_a_name_that_stands_for_nothing_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"'\{thread\}' stands for nothing; did you mean 'threads'"):
        words.fill("{thread}", words.Counts(1, 1, 1).values())


def test_a_command_is_split_as_a_shell_does_and_a_shell_takes_it_whole() -> None:
    assert words.split("a 'b c' \"d\"", shell=False) == ("a", "b c", "d")
    assert words.split("a | b", shell=True) == ("/bin/sh", "-c", "a | b")
    with pytest.raises(ValueError, match="cannot be split into words"):
        words.split("a 'b", shell=False)
    with pytest.raises(ValueError, match="a command was expected"):
        words.split(" ", shell=False)


@pytest.mark.parametrize(
    ("text", "threads", "settings", "expected"),
    [
        ("xz -T{N}", 1, {}, (8, 8, 1, 1)),
        ("mpirun -np {N} a", 1, {}, (8, 1, 8, 1)),
        ("mpirun -np {processes} a", 4, {}, (8, 4, 2, 1)),
        ("./run {processes} {threads}", 2, {}, (8, 2, 4, 1)),
        ("mpirun -np {N} a", 1, {"nodes": "3"}, (8, 1, 8, 3)),
        ("mpirun -np {N} a", 1, {"ranks_per_node": "3"}, (8, 1, 8, 3)),
        ("mpirun -np {N} a", 1, {"nodes": "30"}, (8, 1, 8, 8)),
    ],
)
def test_what_n_is_for_a_command(text: str, threads: int, settings: dict[str, str], expected: tuple[int, ...]) -> None:
    found = words.counts(text.split(), 8, RunOptions(threads_per_process=threads), settings)
    assert (found.processors, found.threads, found.processes, found.nodes) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("xz -T{N} f", "xz"),
        ("mpirun -np {N} ./app in", "app"),
        ("python3 par.py {N}", "par"),
        ("env A=1 ./app", "app"),
        ("mpirun -np 4 missing", "mpirun"),
        ("/usr/bin/sort x", "sort"),
    ],
)
def test_a_command_has_the_name_of_the_program_that_it_starts(text: str, name: str, tmp_path: Path) -> None:
    for file in ("app", "par.py"):
        (tmp_path / file).touch()
    assert words.title(text.split(), tmp_path) == name


@pytest.mark.parametrize(
    ("pattern", "output", "seconds"),
    [
        (r"Elapsed: (\S+) s", "Elapsed: 12.5 s\n", 12.5),
        (r"Elapsed: (\S+)", "Elapsed: 12.5 ms\n", 0.0125),
        (r"Elapsed: (\S+)", "Elapsed: 12.5ms\n", 0.0125),
        (r"Elapsed: (\S+)", "Elapsed: 1:02:03.5\n", 3723.5),
        (r"real\s+(\S+)", "real\t1m2.5s\n", 62.5),
        (r"Time \(ms\): (\S+)", "Time (ms): 40\n", 0.04),
        (r"in us: (\S+)", "time in us: 40\n", 40e-6),
        (r"t=(?P<unit>\w+) (\d+)", "t=min 2\n", 120.0),
        (r"took ([\d.e+-]+)", "took 1.5e-3 seconds\n", 1.5e-3),
        (r"took (\S+)", "took 1.5D-03 s\n", 1.5e-3),
        (r"step (\S+) s", "step 1 s\nstep 2 s\n", 2.0),
    ],
)
def test_a_time_is_found_with_its_unit(pattern: str, output: str, seconds: float) -> None:
    assert reported.time(pattern, output).seconds == pytest.approx(seconds)


def test_what_a_time_leaves_open_is_said() -> None:
    assert reported.time(r"t=(\S+)", "t=2\n").remarks == ("the output gives no unit for its time; seconds are assumed",)
    assert "2 places" in reported.time(r"t=(\S+)", "t=2 s\nt=3 s").remarks[0]
    for pattern, output, sentence in (
        (r"t=(\S+)", "x", "nothing in its output matches"),
        (r"t=(\S+)", "t=abc", "'abc' is not a number"),
        (r"t=(\S+)", "t=-3 s", "not a time above 0"),
        (r"t=(\S+)", "t=3km", "'km' is not a unit of time"),
        (r"t=(\S+)", "t=nan s", "is not a number"),
    ):
        with pytest.raises(ValueError, match=sentence):
            reported.time(pattern, output)


@pytest.mark.parametrize(
    ("output", "rate", "unit"),
    [
        ("perf 2 GFLOP/s", 2e9, "FLOP/s"),
        ("perf 950 MB/s", 950e6, "B/s"),
        ("perf 1.5 GiB/s", 1.5 * 2**30, "B/s"),
        ("perf 12 cells/min", 0.2, "cells/s"),
        ("perf 60 ns/day", 60 / 86400, "ns/s"),
        ("perf 3 Mbps", 3e6, "b/s"),
        ("perf 7", 7.0, ""),
        ("perf 4 MLUPS", 4e6, "LUPS"),
    ],
)
def test_a_rate_is_found_in_a_unit_without_prefix(output: str, rate: float, unit: str) -> None:
    found = reported.rate(r"perf (\S+)", output)
    assert (found.rate, found.unit) == (pytest.approx(rate), unit)


def test_a_pattern_needs_a_group_and_must_be_one() -> None:
    assert "no group" in reported.fault("Elapsed")
    assert "not a regular expression" in reported.fault("(")
    assert not reported.fault(r"(\d+)")
