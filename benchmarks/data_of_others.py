"""How many public tables are read right, asked about, refused or read wrong: a hundred that nobody made for this.

    python benchmarks/data_of_others.py DIRECTORY [--only WORD]

DIRECTORY holds the files, each called `owner+name@path`, with `@` in place of `/`; they are other people's and not in
this repository: `git clone https://github.com/owner/name` and copy them. They were chosen before one was tried: of the
repositories that an index of GitHub lists under names such as `strong_scaling.csv`, `results/scaling.csv`,
`speedup.csv`, `openmp_results.csv` and `mpi.csv`, every table below 60 kB whose first lines speak of threads,
processes or sizes and of a time or speed.

The right values are computed by pandas from the columns that are named in data_of_others.txt, for which each file was
looked at: `path | processors | time | unit | answers`. Processors may be a product; `-`: the file has no scaling data.
A file whose `answers` are not empty does not say something (mostly the unit), so that a question is right.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from scalegraph.base.errors import InputError
from scalegraph.measurements.mapping import SECONDS, Unanswered
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import opened

TABLE = Path(__file__).with_suffix(".txt")


def rows() -> list[list[str]]:
    """Return the parts of every line of `TABLE`."""
    return [[part.strip() for part in line.split("|")] for line in TABLE.read_text().splitlines()]


def right(path: Path, processors: str, time: str, unit: str) -> list[tuple[int, float]]:
    """Return processors and seconds of every run as pandas reads them; of a rate 1 over it."""
    if processors == "log":
        text = path.read_text()
        counts, times = re.findall(r"N_Threads: (\d+)", text), re.findall(r"elapsed: ([\d.]+)", text)
        return sorted(zip(map(int, counts), map(float, times), strict=True))
    if path.name.endswith("speedup_table.txt"):
        table = pd.read_csv(path, sep=r"\s+", skiprows=3)
        return sorted(zip(table["workers"], table[time], strict=True))
    separator = ";" if ";" in path.read_text().split("\n")[0] else ","
    remark = None if path.read_text().startswith("#") else "#"
    table = pd.read_csv(path, sep=separator, skipinitialspace=True, comment=remark)
    table.columns = pd.Index([str(title).lstrip("# ").strip() for title in table.columns])
    numbers = table[[name.strip() for name in processors.split("*")]].apply(pd.to_numeric, errors="coerce")
    counts = numbers.prod(axis=1)
    values = table[time]
    if not pd.api.types.is_numeric_dtype(values):
        values = pd.to_timedelta(values.str.strip()).dt.total_seconds()
    seconds = 1 / values if unit == "rate" else values * SECONDS[unit]
    return sorted((int(count), float(value)) for count, value in zip(counts, seconds, strict=True) if value > 0)


def read(path: Path, said: dict[str, Any]) -> list[tuple[int, float]]:
    """Return processors and seconds of every run as ScaleGraph reads them."""
    roles = {key.removeprefix("column:"): said.pop(key) for key in list(said) if key.startswith("column:")}
    with opened([path], choices=TableChoices(columns=roles), said=said) as study:
        return sorted((run.point.processors, run.time_s) for run in study.runs() if run.time_s is not None)


def alike(found: list[tuple[int, float]], expected: list[tuple[int, float]], unit: str) -> bool:
    """Whether runs are the same; of rates only their ratios to the first are."""
    if len(found) != len(expected):
        return False
    scale = found[0][1] / expected[0][1] if unit == "rate" and found else 1.0
    return all(
        one[0] == two[0] and abs(one[1] - two[1] * scale) <= 1e-9 + 1e-6 * one[1]
        for one, two in zip(found, expected, strict=True)
    )


def verdict(path: Path, row: list[str]) -> tuple[str, str]:
    """Return what became of a file: right, asked, refused, wrong or silently wrong; and in words why.

    ``asked`` is one question of any number of points, which one answer settles: where every guess is right ``taken``,
    else ``answered``. ``twice`` says that something was asked after the answers.
    """
    _, processors, time, unit, answers = row
    expected = [] if processors == "-" else right(path, processors, time, unit)
    try:
        found = read(path, {})
    except Unanswered as error:
        if processors == "-":
            return "refused", str(error)
        said = dict(pair.split("=", 1) for pair in answers.split())
        asked = {one.key.replace("columns.", "column:") for one in error.questions}
        again = ""
        try:
            found = read(path, {key: value for key, value in said.items() if key in asked})
        except Unanswered:
            again = " twice"
        except InputError as other:
            return "wrong", f"asked; after the answer: {other}"
        if again:
            try:
                found = read(path, said)
            except InputError as other:
                return "wrong", f"asked twice; after the answers: {other}"
        if not alike(found, expected, unit):
            return "wrong", str(error)
        guesses = {one.key.replace("columns.", "column:"): one.guess for one in error.questions if one.guess}
        try:
            taken = bool(error.together) and alike(read(path, guesses), expected, unit)
        except InputError:
            taken = False
        return f"asked, {'taken' if taken else 'answered'}{again}", str(error)
    except InputError as error:
        return ("refused" if processors == "-" else "wrong"), str(error)
    if not found and processors == "-":
        return "refused", "0 runs"
    if not found:
        return "wrong", "0 runs"
    return ("right" if alike(found, expected, unit) else "silently wrong"), f"{found[:2]} for {expected[:2]}"


def main() -> int:
    """Print what became of every file, and how many of each; return 1 where one is silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="files whose names hold this")
    said = parser.parse_args()
    counted: collections.Counter[str] = collections.Counter()
    for row in rows():
        path = said.directory / row[0]
        if said.only not in row[0]:
            continue
        if not path.exists():
            found, why = "missing", ""
        else:
            with contextlib.redirect_stderr(None):
                found, why = verdict(path, row)
        counted[found] += 1
        print(f"{found:16} {row[0]}" + (f"\n    {why[:300]}" if found in ("wrong", "silently wrong") else ""))
    print(", ".join(f"{count} {name}" for name, count in counted.most_common()), "of", sum(counted.values()))
    return 1 if counted["silently wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
