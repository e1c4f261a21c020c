"""How many of a hundred third-party tables are read right, lead to a question, are refused, or are read wrong.

    python benchmarks/data_of_others.py DIRECTORY [--only WORD]

DIRECTORY holds the files, each named `owner+name@path` with `@` in place of `/`. They belong to other people and are
not in this repository: `git clone https://github.com/owner/name` and copy them. They were chosen before any was tried:
all tables below 60 kB, in repositories that an index of GitHub lists with files such as `strong_scaling.csv`,
`results/scaling.csv`, `speedup.csv`, `openmp_results.csv` and `mpi.csv`, whose first lines mention threads, processes
or sizes, and a time or speed.

pandas computes the right values from the columns named in data_of_others.txt, which was written by looking at each
file: `path | processors | time | unit | answers`. Processors may be a product; `-` means that the file has no scaling
data. If `answers` is not empty, the file leaves something open (mostly the unit), and asking is the right reaction.
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
    """Return the fields of every line of `TABLE`."""
    return [[part.strip() for part in line.split("|")] for line in TABLE.read_text().splitlines()]


def right(path: Path, processors: str, time: str, unit: str) -> list[tuple[int, float]]:
    """Return processors and seconds of every run as pandas reads them; a rate r gives 1/r."""
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
    """Whether the runs agree; for rates, only the ratios to the first run are compared."""
    if len(found) != len(expected):
        return False
    scale = found[0][1] / expected[0][1] if unit == "rate" and found else 1.0
    return all(
        one[0] == two[0] and abs(one[1] - two[1] * scale) <= 1e-9 + 1e-6 * one[1]
        for one, two in zip(found, expected, strict=True)
    )


def verdict(path: Path, row: list[str]) -> tuple[str, str]:
    """Return the verdict on a file (right, asked, refused, wrong or silently wrong), and the reason in words.

    ``asked`` is one question about any number of points, settled by one answer: ``taken`` if every guess was right,
    otherwise ``answered``. ``twice`` means that another question followed the answers.
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
    """Print the verdict on every file and a count of each; return 1 if a file is silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="only files whose names contain this")
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
