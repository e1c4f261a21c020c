"""Columns that are series of one measurement: times of several programs side by side, `openmp` and `pthreads`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from scalegraph.measurements import names, rates
from scalegraph.measurements.mapping import SECONDS, Question
from scalegraph.measurements.model import Metric
from scalegraph.measurements.table.layout import NUMBER

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

PARAMETER = "variant"
SEPARATE = "none"  # the answer that such columns are separate metrics
_SPREAD = 100.0  # ratio between two series of one measurement, at one number of processors
_MEANS = ("mean", "avg", "average", "median", "time", "time_s")
_DEVIATIONS = ("stddev", "std", "stdev", "sd", "deviation", "error", "err", "std_dev", "sigma")
_FRACTIONS = "series of one measurement: fractions of one size that fall as processors are added"
# names of compilers, programming models, schedules, libraries, and of versions of a program
_VARIANTS = names.words(
    "gcc clang icc icx icpc icpx ifort ifx gfortran intel gnu llvm flang nvc nvhpc pgi pgcc cray cce aocc msvc openmp "
    "omp pthreads pthread tbb cilk openacc acc mpi cuda hip sycl kokkos raja opencl stdpar hybrid static dynamic "
    "guided auto naive blocked tiled simd avx avx2 avx512 sse scalar vectorized baseline base optimized optimised opt "
    "original tuned old new before after v0 v1 v2 v3 v4 o0 o1 o2 o3 ofast openblas mkl blis atlas fftw numpy "
    "numba jax torch cython python cpp c fortran rust julia row col rowwise colwise strassen jacobi mutex atomic "
    "critical reduction lock lockfree spin futex openmpi mpich mvapich impi"
)
_BESIDE = frozenset({"time", "t", "runtime", "elapsed", "wall"})  # words beside a variant's name: `time_gcc`


def found(columns: list[Column], rows: Sequence[Sequence[str]], across: str) -> tuple[list[Column], str]:
    """Return the columns, those that are series of times marked, and the parameter whose values are their names.

    Series are at least two columns of one unit with similar magnitude, all of which fall from the fewest processors to
    the most: fractions with unknown names, times of known variants, or those that the user said by *across*. Columns of
    their deviations go with them. Others are left unchanged.
    """
    group = [] if across == SEPARATE else _group(columns, rows)
    if not group:
        return columns, ""
    known = {_variant(item) for item in group}
    plain = all(_plain(item, _label(item.name)) for item in group)
    if not across and not plain and not all(map(_is_variant, known)):
        return columns, ""
    why = _FRACTIONS if plain else "times of one unit that fall alike as processors are added"
    unit = group[0].unit
    made = []
    for item in columns:
        label, what = _label(item.name)
        if item in group or (item.role == "metric" and what == "stddev" and label in known):
            name = "time" if item in group else "stddev of time"
            at = _variant(item) if item in group else label
            made.append(replace(item, name=name, unit=unit, role="wide", at=at, confidence=0.7, why=why))
        else:
            made.append(item)
    if any(item.role == "metric" and _label(item.name)[1] != "stddev" for item in made) and not across:
        return columns, ""
    return made, across or PARAMETER


def question(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Question | None:
    """Return the question whether columns of times are those of variants or parts of one time; None without such."""
    group = _group(columns, rows)
    others = [item for item in columns if item.role == "metric" and item not in group]
    timed = all(item.unit.lower() in SECONDS or names.is_time(item.name) for item in group)
    if not group or not timed or any(item.confidence == 1.0 for item in group):
        return None
    if any(names.metric_kind(item.name, item.unit) == "time" for item in others):
        return None
    listed = ", ".join(item.title for item in group[:6])
    message = f"{listed} are all times that fall alike: those of variants of the program, or parts of one time"
    switch = f"--across {PARAMETER} if they are variants, or --time {quote(group[0].title)} for one of them"
    return Question("across", message, switch, (PARAMETER, SEPARATE))


def _group(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns that may be series of one measurement, empty if there are no two such columns."""
    counting = [item for item in columns if item.role == "parameter" and names.counts_processors(item.name)]
    if len(counting) != 1 or any(item.role in ("wide", "value", "metric_name", "call_path") for item in columns):
        return []
    metrics = [item for item in columns if item.role == "metric"]
    if any(item.repetition is not None for item in metrics):
        return []
    values = [item for item in metrics if _label(item.name)[1] != "stddev" and _may_be_one(item)]
    labels = {_variant(item) for item in values}
    alike = len({item.unit for item in values}) == 1 and len({item.suffix for item in values}) == 1
    if len(values) < 2 or len(labels) < len(values) or "" in labels or not alike:
        return []
    return values if _fall_alike(counting[0], values, rows) and not _sums(values, rows) else []


def _may_be_one(item: Column) -> bool:
    """Whether a column may be one series: a time, or a number of unknown meaning, under the name of no usual time."""
    label = _variant(item)
    short = names.plain(label)
    usual = names.is_time(label) or short in names.PARTS | names.SPREADS or bool(set(short.split("_")) & _PHASES)
    timed = item.unit.lower() in SECONDS or (names.is_time(item.name) and not item.unit)
    return not usual and (timed or _plain(item, _label(item.name)))


# parts of a program's time
_PHASES = names.words(
    "total compute comp computation comm communication io init setup solve solver assembly assemble read write output "
    "input load exchange halo wait idle overhead sync reduce user sys cpu gpu kernel copy transfer min max mean avg "
    "median loop main step steps build serial seq sequential parallel par ideal expected predicted theoretical first"
)


def _variant(item: Column) -> str:
    """Return a column's name without the words for a time: ``gcc`` of ``time_gcc``."""
    label = _label(item.name)[0]
    words = [word for word in names.plain(label).split("_") if word]
    rest = [word for word in words if word not in _BESIDE]
    return label if len(rest) == len(words) or not rest else "_".join(rest)


def _is_variant(label: str) -> bool:
    """Whether a name is that of a compiler, a programming model and so on, perhaps with its version: ``gcc-13``."""
    words = names.plain(label).split("_")
    return words[0] in _VARIANTS and all(word in _VARIANTS or word.isdecimal() for word in words)


def _sums(values: Sequence[Column], rows: Sequence[Sequence[str]]) -> bool:
    """Whether one column is the sum of the others: a total beside its parts."""
    known = [[_number(row, item.index) for item in values] for row in rows]
    whole = [[cell for cell in row if cell is not None] for row in known if None not in row]
    if len(values) < 3 or not whole:
        return False
    return any(all(abs(2 * row[at] - sum(row)) <= 0.02 * row[at] for row in whole) for at in range(len(values)))


def _label(name: str) -> tuple[str, str]:
    """Return a column's series and its role in it: ``triad mean`` is the mean of ``triad``."""
    words = name.strip().rsplit(" ", 1)
    if len(words) == 2:
        last = names.plain(words[1])
        if last in _DEVIATIONS:
            return words[0].strip(), "stddev"
        if last in _MEANS:
            return words[0].strip(), "mean"
    return name.strip(), "stddev" if names.plain(name) in _DEVIATIONS else ""


def _plain(item: Column, label: tuple[str, str]) -> bool:
    """Whether the name of a column of numbers says at most that it is a mean."""
    metric = Metric(label[0], item.unit, names.metric_kind(label[0], item.unit))
    return (
        item.kind == "number"
        and not item.suffix
        and not item.unit
        and metric.kind == "other"
        and not names.is_metric(label[0])
        and rates.per(metric) is None
    )


def _fall_alike(counting: Column, values: Sequence[Column], rows: Sequence[Sequence[str]]) -> bool:
    known = [[_number(row, item.index) for item in (counting, *values)] for row in rows]
    whole = [row for row in known if all(cell is not None and cell > 0 for cell in row)]
    if len(whole) < 2:
        return False
    numbers = [[cell for cell in row if cell is not None] for row in whole]
    first, last = min(numbers, key=lambda row: row[0]), max(numbers, key=lambda row: row[0])
    alike = all(max(row[1:]) <= _SPREAD * min(row[1:]) for row in numbers)
    return first[0] < last[0] and alike and all(b < a for a, b in zip(first[1:], last[1:], strict=True))


def _number(row: Sequence[str], index: int) -> float | None:
    cell = row[index].replace(",", ".") if index < len(row) else ""
    return float(cell.replace("D", "E").replace("d", "e")) if NUMBER.fullmatch(cell) else None
