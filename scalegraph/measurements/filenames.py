"""Several tables with the same columns: differences in their file names distinguish their runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scalegraph.measurements import names
from scalegraph.measurements.collecting import Coordinate
from scalegraph.measurements.model import MeasurementSet

FILE = "file"  # the parameter for words in which names differ
_PAIR = re.compile(r"(?P<key>[A-Za-z]+)[_=-]?(?P<value>\d+)(?![\d.]*[A-Za-z])|(?P<count>\d+)[_-]?(?P<what>[A-Za-z]+)")
_JOBS = ("job", "jobid", "lsf", "pbs", "sge", "slurm")  # precedes a number that only identifies a run
_PARTS = frozenset({"part", "chunk", "file", "copy", "v", "version", "nr", "no", "exp", "measure", "measurement"})
_BETWEEN = re.compile(r"[\s_\-.]+")


def pairs(stems: Sequence[str]) -> list[dict[str, Coordinate]]:
    """Return the numbers in which names differ, by the words before them: ``n``, ``p`` of ``run_n10_p4``.

    If other words differ, too, they are ``name``; empty if no number differs.
    """
    found = [
        {(pair["key"] or pair["what"]).lower(): int(pair["value"] or pair["count"]) for pair in _PAIR.finditer(stem)}
        for stem in stems
    ]
    common = [key for key in found[0] if key not in _JOBS and all(key in each for each in found)]
    rest = [re.sub(r"\d+", "#", stem) for stem in stems]
    varied = [key for key in common if len({each[key] for each in found}) > 1]
    named: list[dict[str, Coordinate]] = [{key: each[key] for key in varied} for each in found]
    if not varied:
        return []
    if len(set(rest)) > 1:
        named = [{**each, "name": words} for each, words in zip(named, rest, strict=True)]
    return named


def with_names(sets: Sequence[MeasurementSet], paths: Sequence[Path]) -> list[MeasurementSet]:
    """Return *sets*, one for each of the tables *paths*, with the differences of the file names as parameters.

    Numbers become a parameter named by their word (``n`` of ``run_n1000.csv``), words become `FILE`. Names that differ
    only in the number of a repetition or part (``run1.csv``, ``2.csv``) add none: their points are repetitions.
    """
    found = _told_apart(paths)
    known = {names.plain(name) for one in sets for name in one.parameters}
    found = [{key: value for key, value in each.items() if names.plain(key) not in known} for each in found]
    if not found or not found[0]:
        return list(sets)
    listed = ", ".join(
        f"{path.name}: {', '.join(map(str, each.values()))}" for path, each in zip(paths, found, strict=True)
    )
    remark = f"what the names of the files differ in is a parameter ({', '.join(found[0])}; {listed[:160]})"
    return [
        replace(
            one,
            parameters=(*one.parameters, *each),
            points=one.points.assign(**each),
            remarks=(*one.remarks, remark),
        )
        for one, each in zip(sets, found, strict=True)
    ]


def _told_apart(paths: Sequence[Path]) -> list[dict[str, Coordinate]]:
    stems = [path.stem for path in paths]
    if len(set(stems)) == 1:  # gcc/times.csv, clang/times.csv
        stems = [path.absolute().parent.name for path in paths]
    numbers = pairs(stems)
    kept = [key for key in (numbers[0] if numbers else {}) if key != "name" and not _counts_files(key, numbers)]
    made: list[dict[str, Coordinate]] = [{key: each[key] for key in kept} for each in numbers] or [{} for _ in paths]
    words = [_BETWEEN.split(re.sub(r"\d+", "", stem).strip("_-. ")) for stem in stems]
    shared = set(words[0]).intersection(*map(set, words[1:]))
    rest = ["_".join(word for word in each if word not in shared) for each in words]
    if len(set(rest)) > 1:
        labels = rest if all(rest) else stems
        made = [{**each, FILE: label} for each, label in zip(made, labels, strict=True)]
    return made


def _counts_files(key: str, found: Sequence[dict[str, Coordinate]]) -> bool:
    """Whether a number in names only counts files: repetitions or parts, or 1, 2, 3 after any other word."""
    if names.counts_processors(key):
        return False
    if names.plain(key) in names.REPETITIONS | _PARTS:
        return True
    values = sorted(int(each[key]) for each in found)
    return (
        names.plain(key) not in names.SIZES
        and values[0] in (0, 1)
        and values == list(range(values[0], values[0] + len(values)))
    )
