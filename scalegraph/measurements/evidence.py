"""Evidence where times alone leave something open: file names, speedup and efficiency columns, times that fall."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scalegraph.base.units import assigned, plain, significant
from scalegraph.measurements import derived, grids, names
from scalegraph.measurements.mapping import Scaling
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import varies
from scalegraph.measurements.splits import splits_names

_WORD = re.compile(r"(?<![a-z])(weak|strong)(?![a-z])")
_NEAR = 0.02  # relative spread of what should be constant
_APART = 2.0  # ratio of repetitions above which they may be of different problems
_MOST = 0.75  # share of series in which times fall


def named_scaling(files: Sequence[str]) -> Scaling:
    """Return the scaling that the file names agree on, or else their folders; empty where they say neither or both."""
    for words in ([Path(file).stem for file in files], [Path(file).absolute().parent.name for file in files]):
        found = {word for text in words for word in _WORD.findall(text.lower())}
        if len(found) == 1:
            return "weak" if "weak" in found else "strong"
        if found:
            return ""
    return ""


def derived_scaling(measured: MeasurementSet, processors: str, time: str) -> tuple[Scaling, str]:
    """Return the scaling that a speedup or efficiency column was computed for, and that column's name.

    S T is constant for strong scaling and S T / N for weak scaling; so are E N T and E T. Empty where neither holds.
    """
    counts = measured.points[processors].to_numpy(dtype=np.float64)
    spent = derived.medians(measured, time)
    for metric in measured.metrics:
        kind = derived.kind_of(metric.name)
        if kind not in ("speedup", "efficiency", "percent") or len(measured.call_paths) != 1:
            continue
        product = derived.medians(measured, metric.name) * spent * (counts if kind != "speedup" else 1.0)
        if _constant(product):
            return "strong", metric.name
        if _constant(product / np.maximum(counts, 1.0)):
            return "weak", metric.name
    return "", ""


def _constant(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    return len(known) > 2 and known.min() > 0 and bool(known.max() <= (1 + 2 * _NEAR) * known.min())


def apart(measured: MeasurementSet, times: Floats, name: str) -> list[str]:
    """Return a doubt about repetitions that are far apart at most of the points that have several, empty for none.

    *times*: of each point and repetition, NaN where unknown.
    """
    rows = np.flatnonzero(np.isfinite(times).sum(axis=1) > 1)
    if len(rows) < 2:
        return []
    least, most = np.nanmin(times[rows], axis=1), np.nanmax(times[rows], axis=1)
    wide = most > _APART * least
    if wide.sum() < _MOST * len(rows):
        return []
    at = int(np.flatnonzero(wide)[0])
    point = measured.points.iloc[int(rows[at])]
    where = assigned((one, point[one]) for one in measured.parameters)
    words = f"repetitions of '{name}' are far apart ({significant(least[at])} and {significant(most[at])} at {where})"
    return [f"{words}: if they are of different problems, name these in a column of their own"]


def factors_of(measured: MeasurementSet, several: Sequence[str]) -> list[str]:
    """Return those of *several* counts whose product may be the processors: not nodes that ranks or tasks fill."""
    points = _as_numbers(measured, several)
    if points is None:
        return list(several)
    others = [name for name in several if not names.counts_nodes(name)]
    filled = [
        name
        for name in several
        if name not in others and any((points[other] % points[name].clip(lower=1) == 0).all() for other in others)
    ]
    kept = [name for name in several if name not in filled]
    return kept if len(kept) > 1 else list(several)


def both_count(measured: MeasurementSet, counts: Sequence[str], several: Sequence[str]) -> str:
    """Return why the product of *counts* counts the processors, empty where nothing shows that it does.

    Either a size is that product times a constant, or times fall with each of them while the others stay the same.
    Those of *several* that are not in *counts* (nodes that ranks fill) may change meanwhile.
    """
    points = _as_numbers(measured, several)
    if (
        points is None
        or len(counts) < 2
        or any(points[name].nunique() < 2 or points[name].min() < 1 for name in counts)
    ):
        return ""
    product = points[list(counts)].prod(axis=1).to_numpy(dtype=np.float64)
    for name in measured.parameters:
        if name not in counts and pd.api.types.is_numeric_dtype(points[name].dtype) and points[name].nunique() > 2:
            shares = points[name].to_numpy(dtype=np.float64) / np.maximum(product, 1.0)
            if _constant(shares):
                return f"is what {name} grows with"
    times = [metric.name for metric in measured.metrics if metric.kind == "time"]
    if not times or len(measured.call_paths) != 1:
        return ""
    spent = derived.medians(measured, derived.longest(measured, times) or times[0])
    falls = all(_falls(measured, name, spent, several) for name in counts)
    return "is likeliest, as times fall with each of them" if falls else ""


_PROCESSES = names.words("proc procs process processes rank ranks task tasks mpi nprocs nranks ntasks np")
_THREADS = names.words("thread threads nthreads omp openmp")
_CORES = names.words("core cores ncores cpu cpus ncpus")


def decided(measured: MeasurementSet, candidates: Sequence[str]) -> tuple[str, str] | None:
    """Return which of the *candidates*, or product of them, counts the processors, and why; None if that is open.

    A product does that a size grows with, or of processes and threads if times fall with each of them. Of processes and
    cores in a constant ratio the larger ones do: speedups are the same by both.
    """
    several = [name for name in candidates if varies(measured.points[name])]
    factors = factors_of(measured, several)
    words = [_words(name) for name in factors]
    if len(factors) == 2 and all(len(measured.points[name].unique()) > 1 for name in factors):
        split = any(one & _PROCESSES and two & _THREADS for one, two in (words, words[::-1]))
        if split and (why := both_count(measured, factors, several)):
            short = why.removeprefix("is likeliest, as ")
            return "*".join(factors), short if short != why else f"their product {why}"
    if len(several) == 2:
        first, second = several
        ratio = (measured.points[first] / measured.points[second]).to_numpy(dtype=np.float64)
        kinds = [_words(name) for name in several]
        pair = any(one & _PROCESSES and two & _CORES for one, two in (kinds, kinds[::-1]))
        if pair and np.isfinite(ratio).all() and ratio.min() == ratio.max():
            more, less = (first, second) if ratio[0] >= 1 else (second, first)
            times = plain(max(ratio[0], 1 / ratio[0]))
            return more, f"'{more}' is {times} times '{less}' in every row, so that speedups are the same by both"
    return None


def _words(name: str) -> frozenset[str]:
    words = set(names.plain(name).split("_"))
    return frozenset(words | {"threads"} if "threads" in names.plain(name) else words)


def split(measured: MeasurementSet, counts: Sequence[str]) -> str:
    """Return why *counts* are ways of splitting one number of processors, empty if their product is not constant."""
    points = _as_numbers(measured, counts)
    if points is None or len(counts) < 2 or any(points[name].nunique() < 3 for name in counts):
        return ""
    products = points[list(counts)].prod(axis=1).to_numpy()
    return f"is {plain(products[0])} in every run, which they split" if (products == products[0]).all() else ""


def processes_of_threads(measured: MeasurementSet, counts: Sequence[str]) -> str:
    """Return why the product of *counts* is likely by their names: processes that run several threads each."""
    points = _as_numbers(measured, counts)
    if points is None or len(counts) != 2 or not (points[list(counts)] > 0).all(axis=None) or not splits_names(counts):
        return ""
    first, second = (points[name].nunique() for name in counts)
    together = len(points[list(counts)].drop_duplicates()) == first == second > 1  # one may be the number of all
    return "" if together else "is what processes of several threads use"


def _as_numbers(measured: MeasurementSet, counts: Sequence[str]) -> pd.DataFrame | None:
    """Return the points with grids such as ``2x2`` among *counts* as numbers, None where one of them is a text."""
    points = measured.points.copy()
    for name in counts:
        if (sides := grids.products(points[name])) is not None:
            points[name] = sides
        if not pd.api.types.is_numeric_dtype(points[name].dtype):
            return None
    return points


def _falls(measured: MeasurementSet, name: str, spent: Floats, several: Sequence[str]) -> bool:
    """Whether times fall as *name* grows in most series where all other counts of *several* have their minimum."""
    kept = set(factors_of(measured, several)) - {name}
    points = _as_numbers(measured, several)
    if points is None:
        return False
    least = (points[list(kept)] == points[list(kept)].min()).all(axis=1)
    others = [other for other in measured.parameters if other in kept or other not in several]
    table = points.assign(**{"\0time": spent}).dropna(subset=["\0time"]).sort_values(name, kind="stable")
    groups: list[pd.DataFrame] = []
    for chosen in (table[least[table.index]], table):  # everywhere, if it never grows where the others are least
        each = [rows for _, rows in chosen.groupby(others, dropna=False)] if others else [chosen]
        groups = groups or [rows for rows in each if varies(rows[name])]
    falling = 0
    for rows in groups:
        growth = float(rows[name].iloc[-1]) / max(float(rows[name].iloc[0]), 1.0)
        gain = float(rows["\0time"].iloc[0]) / max(float(rows["\0time"].min()), 1e-300)
        falling += gain >= min(1.5, growth**0.3)
    return bool(groups) and falling >= _MOST * len(groups)
